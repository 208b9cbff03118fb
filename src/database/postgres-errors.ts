import { DatabaseError } from 'pg'
import { AppError } from '../core/errors.ts'
import { OperatorError } from '../core/operator-error.ts'
import { databaseUnavailable } from './unavailable.ts'

const UNKNOWN_OUTCOME =
  'the database was lost while it committed this change: whether it was made is not known; look before you repeat it'
/** The network failed, or the process has no file descriptor left. */
const SYSTEM_ERROR =
  /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|E(HOST|NET)(UNREACH|DOWN)|ENETRESET|ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|E[MN]FILE|ERR_STREAM_(DESTROYED|WRITE_AFTER_END))$/
/** The driver ends a connection that receives an unexpected message. */
const DRIVER_ERROR =
  /^(Connection terminated|Received unexpected |Client (has encountered a connection error|was closed)|timeout )/
const BUSY = 'the database is busy with other changes'
const FULL = 'the disk of the database is full'
const GONE = 'something that this change refers to was deleted meanwhile; try again'
const NO_CHANGES = 'the database takes no changes at the moment'
const UNFIT = 'the database is not set up as this server needs it; the log of the server says why'

/** A commit got no answer or an unclear one. It must not be retried, because it may have succeeded. */
export class UnknownOutcomeError extends Error {
  constructor(cause: unknown) {
    super('a commit got no clear answer', { cause })
  }
}

/** No connection could be opened, for any reason. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('no connection to the database could be made', { cause })
  }
}

/** The transaction exceeded its deadline. */
export class DeadlineError extends Error {}

/** Commits wait for a standby that is away. */
export class MissingStandbyError extends OperatorError {
  constructor() {
    super(
      'commits wait for a synchronous standby of PostgreSQL: start it again, or change synchronous_standby_names',
    )
  }
}

/** Serialization failure or deadlock: the transaction was rolled back and may be retried. */
export function isWorthRetrying(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01')
}

/**
 * A newer release has added columns since the connection prepared the statement, or dropped one that the plan of a read
 * names. The transaction was rolled back. PostgreSQL has no code of its own for the first case, and its message may be in any
 * language, so this looks at the function that reports it.
 */
export function isStaleStatement(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false
  return error.code === '42703' || (error.code === '0A000' && error.routine === 'RevalidateCachedQuery')
}

/** Whether the server itself reported the failure and the connection goes on. Otherwise the outcome is unknown. */
export function isAnswer(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !/^(57P|08|25P0[34])/.test(error.code ?? '')
}

/** Whether the server reported this failure, and not only that an earlier statement of the transaction had failed. */
export function isCause(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code !== '25P02'
}

/** A lock, statement or pause took too long (55P03, 57014, 25P03, 25P04), or every retry lost. The database itself is well. */
export function isBusy(error: unknown): boolean {
  return error instanceof DatabaseError && /^(55P03|57014|25P0[34]|40001|40P01)$/.test(error.code ?? '')
}

/** A foreign key was violated: a row that the transaction had read was deleted by another one. */
export function isOrphaned(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '23503'
}

/**
 * The database itself fails: it closes or refuses connections (08, 28, 3D, 57P), is out of memory, disk or connections
 * (53, 58), is a standby (25006), lacks rights, has no transaction ids left, sessions are shared, or the network failed. pg's
 * own errors have no code.
 */
export function isAway(error: unknown): boolean {
  if (isMissingRight(error) || isSharedSession(error) || isOutOfIds(error)) return true
  if (error instanceof DatabaseError) return /^(08|28|3D|53|57P|58|25006)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  if ([UnknownOutcomeError, UnreachableError, DeadlineError].some((kind) => error instanceof kind))
    return true
  const { code } = error as NodeJS.ErrnoException
  return code === undefined ? DRIVER_ERROR.test(error.message) : SYSTEM_ERROR.test(code)
}

/** The server is not there yet, is starting, or is restarting. */
export function isStarting(error: unknown): boolean {
  return isAway(error) && !(error instanceof DatabaseError && !/^(57P|53300)/.test(error.code ?? ''))
}

/** A disk quota or the disk itself has no room for what a statement writes. */
export function isFull(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53100'
}

/** The server is a standby, or the database takes no writes. */
function isReadOnly(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '25006'
}

/** The role may not use a table (42501), or does not see it (42P01) because it may not use the schema. */
export function isMissingRight(error: unknown): boolean {
  return error instanceof DatabaseError && /^(42501|42P01)$/.test(error.code ?? '')
}

/** PostgreSQL begins no writing transaction before somebody has vacuumed. The code alone also stands for limits of values. */
function isOutOfIds(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.code !== '54000') return false
  return error.routine === 'GetNewTransactionId' || error.routine === 'GetNewMultiXactId'
}

/** A prepared statement is missing or there already: a pooler has exchanged the session behind the connection. */
export function isSharedSession(error: unknown): boolean {
  return error instanceof DatabaseError && /^(26000|42P05)$/.test(error.code ?? '')
}

/** The same for the reason that a probe found. */
export function outcomeOfProbe(error: unknown): unknown {
  if (error instanceof MissingStandbyError) return databaseUnavailable(error, NO_CHANGES)
  return error instanceof OperatorError ? databaseUnavailable(error, UNFIT) : outcomeOf(error)
}

/** The error for callers: 503 in place of a driver error about an outage; any other error unchanged. */
export function outcomeOf(error: unknown): unknown {
  if (error instanceof AppError) return error
  if (error instanceof UnknownOutcomeError) return databaseUnavailable(error, UNKNOWN_OUTCOME)
  if (error instanceof UnreachableError) return databaseUnavailable(error.cause)
  if (isBusy(error)) return databaseUnavailable(error, BUSY)
  if (isOrphaned(error)) return databaseUnavailable(error, GONE)
  if (isFull(error)) return databaseUnavailable(error, FULL)
  if (isReadOnly(error)) return databaseUnavailable(error, NO_CHANGES)
  if (isMissingRight(error) || isSharedSession(error)) return databaseUnavailable(error, UNFIT)
  return isAway(error) ? databaseUnavailable(error) : error
}
