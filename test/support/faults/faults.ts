import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder, type Settings } from '../purser.ts'
import { sharedLibrary } from '../shared-library.ts'

/** The same values as in faults.c. `names` are rename, link and unlink. */
const kinds = { writes: 1, syncs: 2, names: 4, reads: 8 } as const
const PLACES = { calls: 0, at: 1, error: 2, isOnce: 3, count: 4, failed: 5 } as const
const CONTROL_BYTES = 24

export type Fault = {
  calls: readonly (keyof typeof kinds)[]
  /** The number of the call that fails, counted from now. Without it no call fails. */
  at?: number
  /** `KILL` ends the process instead of the call. */
  error?: 'EIO' | 'ESTALE' | 'ENOSPC' | 'KILL'
  /** Later calls succeed. Otherwise they fail, too, until `clear`. */
  isOnce?: boolean
}

/** Faults on the files of one folder, in processes that are started with `settings`. */
export class Faults {
  readonly settings: Settings
  readonly #control: number

  constructor(folder: string) {
    const library = sharedLibrary(join(import.meta.dirname, 'faults.c'), 'tests of failing disks')
    const file = join(temporaryFolder(), 'control')
    writeFileSync(file, Buffer.alloc(CONTROL_BYTES))
    this.#control = openSync(file, 'r+')
    onTestFinished(() => closeSync(this.#control))
    this.settings = { LD_PRELOAD: library, FAULT_FOLDER: resolve(folder), FAULT_CONTROL: file }
  }

  /** Counts calls from now on, and makes them fail as given. */
  set({ calls, at = 0, error = 'KILL', isOnce = false }: Fault): void {
    const sum = calls.reduce((all, kind) => all + kinds[kind], 0)
    const errno = error === 'KILL' ? 0 : constants.errno[error]
    const control = Buffer.alloc(CONTROL_BYTES)
    for (const [place, value] of [sum, at, errno, Number(isOnce), 0, 0].entries()) {
      control.writeInt32LE(value, place * 4)
    }
    writeSync(this.#control, control, 0, CONTROL_BYTES, 0)
  }

  clear(): void {
    this.set({ calls: [] })
  }

  /** The number of calls since `set`. */
  get count(): number {
    return this.#read(PLACES.count)
  }

  get failed(): number {
    return this.#read(PLACES.failed)
  }

  #read(place: number): number {
    const bytes = Buffer.alloc(4)
    readSync(this.#control, bytes, 0, 4, place * 4)
    return bytes.readInt32LE()
  }
}
