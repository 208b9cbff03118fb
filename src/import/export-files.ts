import { createHash, type Hash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { existing } from '../core/existing.ts'
import { systemClock, timestamp } from '../core/clock.ts'
import { OperatorError, writingTo } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import { makeFolder } from '../operation/new-file.ts'
import { FileSink, STATES } from './file-sink.ts'
import { recordKinds, type RecordKind } from './records.ts'

export const FORMAT = 'purser-export'
export const FORMAT_VERSION = 1
export const MANIFEST = 'manifest.json'
/**
 * Exists in the folder while it is written. A folder that has it was interrupted, and is written again from the start.
 */
const UNFINISHED = 'unfinished'

export type Manifest = {
  format: string
  'format-version': number
  'purser-version': string
  'created-at': string
  from: string
  /** SHA-256 of each file of records. */
  files: Record<string, string>
}

export function fileOf(kind: RecordKind): string {
  return `${kind}.jsonl`
}

/**
 * The folder of an export, readable only by its owner: files with one record a line, and states named by their hash.
 */
export class ExportFiles {
  readonly #folder: string
  readonly #files: ReadonlyMap<RecordKind, { descriptor: number; hash: Hash }>
  /** The open file `unfinished`. */
  #mark = -1

  constructor(folder: string) {
    this.#folder = folder
    this.#files = writingTo(folder, () => {
      makeFolder(resolve(folder))
      refuseOthersFolder(folder)
      if (existsSync(join(folder, UNFINISHED))) clear(folder)
      // A folder that is refused keeps its mode: it may be one that others must read.
      if (readdirSync(folder).length > 0) throw new OperatorError(`${folder} is not empty`)
      chmodSync(folder, 0o700)
      this.#mark = openSync(join(folder, UNFINISHED), 'wx', 0o600)
      fsyncSync(this.#mark)
      mkdirSync(join(folder, STATES), { mode: 0o700 })
      return new Map(
        recordKinds.map((kind) => {
          const descriptor = openSync(join(folder, fileOf(kind)), 'wx', 0o600)
          return [kind, { descriptor, hash: createHash('sha256') }]
        }),
      )
    })
  }

  record(kind: RecordKind, organization: string, record: object): void {
    const file = existing(this.#files.get(kind))
    const line = Buffer.from(`${JSON.stringify({ organization, ...record })}\n`)
    writingTo(this.#folder, () => writeFileSync(file.descriptor, line))
    file.hash.update(line)
  }

  /** Runs work that receives a file. The file is deleted unless the work keeps it. */
  async arriving<T>(work: (sink: FileSink) => Promise<T>): Promise<T> {
    using sink = new FileSink(this.#folder)
    return await work(sink)
  }

  /** Writes the manifest. A folder without one is not an export, so an interrupted export is never taken for one. */
  finish(from: string): void {
    writingTo(this.#folder, () => {
      // Then the files of the manifest are no longer in the folder.
      if (fstatSync(this.#mark).nlink === 0) {
        throw new OperatorError(`another export began in ${this.#folder} meanwhile`)
      }
      const files: Record<string, string> = {}
      for (const [kind, { descriptor, hash }] of this.#files) {
        fsyncSync(descriptor)
        files[fileOf(kind)] = hash.digest('hex')
      }
      const manifest: Manifest = {
        format: FORMAT,
        'format-version': FORMAT_VERSION,
        'purser-version': version,
        'created-at': timestamp(systemClock.now()),
        from,
        files,
      }
      const text = `${JSON.stringify(manifest, null, 2)}\n`
      writeFileSync(join(this.#folder, MANIFEST), text, { mode: 0o600, flag: 'wx', flush: true })
      rmSync(join(this.#folder, UNFINISHED))
    })
  }

  [Symbol.dispose](): void {
    for (const { descriptor } of this.#files.values()) closeSync(descriptor)
    closeSync(this.#mark)
  }
}

const WRITABLE_BY_OTHERS = 0o022

/** A user who can put links or files into the folder could read states or choose which files are overwritten. */
function refuseOthersFolder(folder: string): void {
  // resolve() removes a slash at the end; with it, lstat would follow a link.
  const stats = lstatSync(resolve(folder))
  if (stats.isSymbolicLink()) {
    throw new OperatorError(`${folder} is a link: name the folder itself`)
  }
  if (!stats.isDirectory()) throw new OperatorError(`${folder} is no folder`)
  const user = process.getuid?.()
  if (user !== undefined && stats.uid !== user) {
    throw new OperatorError(`${folder} belongs to another user: name a folder of your own`)
  }
  if (user !== undefined && (stats.mode & WRITABLE_BY_OTHERS) !== 0) {
    throw new OperatorError(`others may write into ${folder}: name a new folder`)
  }
}

/** Deletes only what an export has written. */
function clear(folder: string): void {
  for (const name of [MANIFEST, ...recordKinds.map(fileOf)]) rmSync(join(folder, name), { force: true })
  rmSync(join(folder, STATES), { force: true, recursive: true })
  rmSync(join(folder, UNFINISHED))
}
