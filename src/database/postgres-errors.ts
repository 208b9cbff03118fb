import { DatabaseError } from 'pg'
import { AppError } from '../core/errors.ts'
import { databaseUnavailable } from './unavailable.ts'

const UNKNOWN_OUTCOME =
  'the database was lost while it committed this change: whether it was made is not known; look before you repeat it'
/** The network broke, or there is no descriptor left for a socket. */
const SYSTEM_ERROR =
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|E[MN]FILE)$/
const DRIVER_ERROR = /^(Connection terminated|Client has encountered a connection error|timeout )/
const BUSY = 'the database is busy with other changes'

/** A commit got no answer, or one that does not say whether it holds. It is never repeated. */
export class UnknownOutcomeError extends Error {
  constructor(cause: unknown) {
    super('a commit got no clear answer', { cause })
  }
}

/** No connection could be made, for whatever reason. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('no connection to the database could be made', { cause })
  }
}

/** The time for a whole transaction passed. */
export class DeadlineError extends Error {}

/** Serialization failure or deadlock: the transaction was undone whole and may run again. */
export function isWorthRetrying(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/** The server says itself that it could not, and goes on; anything else may have happened as well as not. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && !/^(57P|08|25P03)/.test(error.code ?? '')
}

/** A lock, a statement or a pause took too long (55P03, 57014, 25P03), or others won each time: the database is well. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && /^(55P03|57014|25P03|40001|40P01)$/.test(error.code ?? '')
}

/**
 * The database itself fails: it ends connections or takes none (08, 28, 3D, 57P), has no memory, disk or connections left
 * (53, 58), is a standby (25006), or the network broke. pg's own errors have no code.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(08|28|3D|53|57P|58|25006)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if ([UnknownOutcomeError, UnreachableError, DeadlineError].some((kind) => error instanceof kind))
    return true
  const { code } = error as NodeJS.ErrnoException
  return code === undefined ? DRIVER_ERROR.test(error.message) : SYSTEM_ERROR.test(code)
}

/** There is no server yet, or it is starting, or stopping to start again. */
export function isStarting(error: unknown): boolean {
  return isAway(error) && !(error instanceof DatabaseError && !/^(57P|53300)/.test(error.code ?? ''))
}

/** What callers get: 503 in place of what the driver says of an outage, any other error as it is. */
export function outcomeOf(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (error instanceof UnknownOutcomeError) return databaseUnavailable(error, UNKNOWN_OUTCOME)
  if (error instanceof UnreachableError) return databaseUnavailable(error.cause)
  if (isBusy(error)) return databaseUnavailable(error, BUSY)
  return isAway(error) ? databaseUnavailable(error) : error
}
