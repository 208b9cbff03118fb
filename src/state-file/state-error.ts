/**
 * Why a file cannot be stored as a state: `not-utf8`, `not-json` (also: cut off), `too-deep`, `not-a-state` (valid JSON
 * of another shape), `too-large` (over a limit for outputs).
 */
export type StateErrorCode = 'not-utf8' | 'not-json' | 'too-deep' | 'not-a-state' | 'too-large'

/** An invalid state. The message names a place, never a value, because states contain secrets. */
export class StateError extends Error {
  readonly code: StateErrorCode
  /** The message without the offset. */
  readonly problem: string
  /** Position of the error in the file, in bytes. */
  readonly offset: number | undefined

  constructor(code: StateErrorCode, problem: string, offset?: number) {
    super(offset === undefined ? problem : `${problem} at byte ${offset}`)
    this.name = 'StateError'
    this.code = code
    this.problem = problem
    this.offset = offset
  }
}
