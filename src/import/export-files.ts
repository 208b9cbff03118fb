import { createHash, type Hash } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, timestamp } from '../core/clock.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import type { Records } from './records.ts'

export const FORMAT = 'purser-export'
export const FORMAT_VERSION = 1
export const MANIFEST = 'manifest.json'
export const STATES = 'states'
export type FileKind = Exclude<keyof Records, 'access'> | 'team-projects' | 'team-workspaces'

export type Manifest = {
  format: string
  'format-version': number
  'purser-version': string
  'created-at': string
  from: string
  /** SHA-256 of each file of records. */
  files: Record<string, string>
}

export function fileOf(kind: FileKind): string {
  return `${kind}.jsonl`
}

const fileKinds: readonly FileKind[] = [
  'organizations',
  'projects',
  'teams',
  'workspaces',
  'members',
  'team-projects',
  'team-workspaces',
  'tokens',
  'state-versions',
]

/** A folder that only its owner can look into: a record a line, and the states beside them under their hash. */
export class ExportFiles {
  readonly #folder: string
  readonly #files: ReadonlyMap<FileKind, { descriptor: number; hash: Hash }>

  constructor(folder: string) {
    this.#folder = folder
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (readdirSync(folder).length > 0) throw new OperatorError(`${folder} is not empty`)
      mkdirSync(join(folder, STATES), { mode: 0o700 })
      this.#files = new Map(
        fileKinds.map((kind) => {
          const descriptor = openSync(join(folder, fileOf(kind)), 'wx', 0o600)
          return [kind, { descriptor, hash: createHash('sha256') }]
        }),
      )
    } catch (error) {
      throw error instanceof OperatorError
        ? error
        : new OperatorError(`cannot write to ${folder}: ${reasonOf(error)}`)
    }
  }

  record(kind: FileKind, organization: string, record: object): void {
    const file = this.#files.get(kind)
    if (file === undefined) throw new Error(`there is no file for ${kind}`)
    const line = Buffer.from(`${JSON.stringify({ organization, ...record })}\n`)
    writeSync(file.descriptor, line)
    file.hash.update(line)
  }

  /** Gives the file's name, from the folder on. */
  content(bytes: Uint8Array, extension: 'tfstate' | 'json'): string {
    const name = `${STATES}/${createHash('sha256').update(bytes).digest('hex')}.${extension}`
    try {
      writeFileSync(join(this.#folder, name), bytes, { mode: 0o600, flag: 'wx', flush: true })
    } catch (error) {
      // The same content again.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    return name
  }

  /** Only with a manifest it is an export: what was interrupted has none. */
  finish(from: string): void {
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
  }

  close(): void {
    for (const { descriptor } of this.#files.values()) closeSync(descriptor)
  }
}
