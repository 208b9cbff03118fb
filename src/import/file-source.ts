import { parseStored } from '../core/stored-json.ts'
import { createHash } from 'node:crypto'
import { constants, createReadStream, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isJsonObject } from '../core/json-object.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { fileOf, FORMAT, FORMAT_VERSION, MANIFEST, type Manifest } from './export-files.ts'
import type { AccessKind } from './both-sides.ts'
import {
  checkedRecord,
  printable,
  Unreadable,
  type OrganizationRecord,
  type RecordKind,
  type Records,
  type StateChoice,
  type StateRecord,
  type WorkspaceRecord,
} from './records.ts'
import { upTo, type Sink, type Source } from './source.ts'

/**
 * Do not follow links: an export contains none, so a link would lead to a foreign file. Do not wait for the writer of a
 * named pipe either: not even Ctrl-C would end that. Windows has no such flags.
 */
const READ_NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

const contentName = /^states\/([0-9a-f]{64})\.(tfstate|json)$/

/** The records of a file, by `groupOf`. */
type Grouped<K extends RecordKind> = Map<string, Records[K][]>

type FileRecords = { [K in RecordKind]?: Grouped<K> }

/** Reads the files of an export. */
export class FileSource implements Source {
  readonly name: string
  readonly identity: string
  readonly #folder: string
  readonly #manifest: Manifest
  readonly #read: FileRecords = {}

  constructor(folder: string) {
    this.#folder = folder
    const bytes = this.#bytes(MANIFEST)
    this.#manifest = this.#checkedManifest(bytes)
    // A hash of the manifest identifies these files. The `from` in it proves nothing, because anyone can write it.
    this.identity = `export ${createHash('sha256').update(bytes).digest('hex')}`
    this.name = `export of ${printable(this.#manifest.from)}`
  }

  organizations(names: readonly string[]): Promise<OrganizationRecord[]> {
    const all = [...this.#all('organizations').values()].flat()
    const missing = names.filter((name) => !all.some((one) => one.name === name))
    if (missing.length > 0)
      throw new OperatorError(`there is no organization ${missing[0]} in ${this.#folder}`)
    return Promise.resolve(names.length === 0 ? all : all.filter(({ name }) => names.includes(name)))
  }

  projects = (organization: string) => this.#records('projects', organization)
  teams = (organization: string) => this.#records('teams', organization)
  workspaces = (organization: string) => this.#records('workspaces', organization)
  members = (organization: string) => this.#records('members', organization)
  tokens = (organization: string) => this.#records('tokens', organization)

  access = (kind: AccessKind, organization: string, placeId: string) =>
    this.#records(kind, organization, placeId)
  consumers = (organization: string, { id }: WorkspaceRecord) =>
    this.#records('remote-state-consumers', organization, id)

  async states(organization: string, { id }: WorkspaceRecord, which: StateChoice): Promise<StateRecord[]> {
    return which === 'none' ? [] : this.#records('state-versions', organization, id)
  }

  async content(state: StateRecord, kind: 'state' | 'jsonState', limit: number, sink: Sink): Promise<void> {
    const name = state[kind] ?? ''
    const hash = contentName.exec(name)?.[1]
    if (hash === undefined) throw new Unreadable('its file name is not one that an export writes')
    const sha256 = createHash('sha256')
    sink.restart()
    try {
      const fd = openSync(join(this.#folder, name), READ_NO_LINK)
      for await (const chunk of upTo(limit, createReadStream('', { fd }))) {
        sha256.update(chunk)
        sink.write(chunk)
      }
    } catch (error) {
      if (error instanceof OperatorError) throw error
      throw new Unreadable(reasonOf(error))
    }
    if (sha256.digest('hex') !== hash) throw new Unreadable(`${name} was changed after the export`)
  }

  async #records<K extends RecordKind>(kind: K, organization: string, place = ''): Promise<Records[K][]> {
    return this.#all(kind).get(groupOf(organization, place)) ?? []
  }

  #all<K extends RecordKind>(kind: K): Grouped<K> {
    const known = this.#read[kind]
    if (known !== undefined) return known
    const records: Grouped<K> = new Map()
    for (const line of this.#text(kind).split('\n')) {
      if (line === '') continue
      const { organization, ...given } = this.#parsed(kind, line)
      const record = checkedRecord(kind, given)
      const group = groupOf(organization, placeOf(record))
      const others = records.get(group) ?? []
      others.push(record)
      records.set(group, others)
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the file has records of this kind only
    this.#read[kind] = records as FileRecords[K]
    return records
  }

  #parsed(kind: RecordKind, line: string): { organization: string } {
    try {
      const record = parseStored<{ organization?: unknown } | null>(line)
      if (typeof record?.organization === 'string') return { ...record, organization: record.organization }
    } catch {
      // Reported below.
    }
    throw new OperatorError(`${join(this.#folder, fileOf(kind))} has a line that is no record`)
  }

  #text(kind: RecordKind): string {
    const name = fileOf(kind)
    const bytes = this.#bytes(name)
    if (createHash('sha256').update(bytes).digest('hex') !== this.#manifest.files[name]) {
      throw new OperatorError(`${join(this.#folder, name)} was changed after the export`)
    }
    return bytes.toString('utf8')
  }

  #checkedManifest(bytes: Buffer): Manifest {
    let manifest: Manifest | null | undefined
    try {
      manifest = parseStored<Manifest | null>(bytes.toString('utf8'))
    } catch {
      // Reported below.
    }
    if (manifest?.format !== FORMAT || typeof manifest.from !== 'string' || !isJsonObject(manifest.files)) {
      throw new OperatorError(`${join(this.#folder, MANIFEST)} does not belong to an export`)
    }
    if (manifest['format-version'] !== FORMAT_VERSION) {
      throw new OperatorError(
        `${this.#folder} has the format ${manifest['format-version']}; this Purser reads ${FORMAT_VERSION}`,
      )
    }
    return manifest
  }

  #bytes(name: string): Buffer {
    const file = join(this.#folder, name)
    try {
      return readFileSync(file, { flag: READ_NO_LINK })
    } catch (error) {
      throw new OperatorError(
        `${file} cannot be read (an export without it was interrupted): ${reasonOf(error)}`,
      )
    }
  }
}

/** Records are looked up by their organization, and those of a project or workspace by that, too. */
const groupOf = (organization: string, place: string) => JSON.stringify([organization, place])

/** The project or workspace that a record belongs to. */
function placeOf(record: Records[RecordKind]): string {
  if ('placeId' in record) return record.placeId
  return 'workspaceId' in record ? record.workspaceId : ''
}
