/**
 * Why a file cannot be kept as a state: `not-utf8`, `not-json` (also: cut off), `too-deep`, `not-a-state` (JSON, but not
 * of a state's shape) and `too-large` (more outputs than one state may have).
 */
export type StateErrorCode = 'not-utf8' | 'not-json' | 'too-deep' | 'not-a-state' | 'too-large'

/** A broken state. The message names a place, never a value: states are full of secrets. */
export class StateError extends Error {
  readonly code: StateErrorCode
  /** The message without the offset. */
  readonly problem: string
  /** Where in the file it shows, in bytes. */
  readonly offset: number | undefined

  constructor(code: StateErrorCode, problem: string, offset?: number) {
    super(offset === undefined ? problem : `${problem} at byte ${offset}`)
    this.name = 'StateError'
    this.code = code
    this.problem = problem
    this.offset = offset
  }
}
