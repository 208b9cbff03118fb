import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Measured } from './read-state.ts'
import { writingTo } from '../core/operator-error.ts'
import { writeAll } from './spool.ts'

export const STATES = 'states'
const ARRIVING = join(STATES, 'arriving')

/** A state that is being written to the folder of an export. It gets its final name only when it is complete. */
export class FileSink implements Measured {
  readonly #folder: string
  readonly #file: number
  #sha256 = createHash('sha256')
  #md5 = createHash('md5')
  size = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#file = writingTo(folder, () => openSync(join(folder, ARRIVING), 'wx', 0o600))
  }

  restart(): void {
    ftruncateSync(this.#file)
    this.#sha256 = createHash('sha256')
    this.#md5 = createHash('md5')
    this.size = 0
  }

  write(chunk: Uint8Array): void {
    this.#sha256.update(chunk)
    this.#md5.update(chunk)
    writeAll(this.#file, chunk, this.size)
    this.size += chunk.length
  }

  get md5(): string {
    return this.#md5.copy().digest('hex')
  }

  /** Renames the file after its content's hash. Returns the name relative to the folder. */
  keep(extension: 'tfstate' | 'json'): string {
    const name = `${STATES}/${this.#sha256.digest('hex')}.${extension}`
    writingTo(this.#folder, () => {
      fsyncSync(this.#file)
      renameSync(join(this.#folder, ARRIVING), join(this.#folder, name))
    })
    return name
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
    rmSync(join(this.#folder, ARRIVING), { force: true })
  }
}
