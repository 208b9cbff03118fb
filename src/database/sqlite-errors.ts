import { AppError } from '../core/errors.ts'
import { databaseUnavailable } from './unavailable.ts'

/**
 * SQLite's result codes for which the file, the disk or the machine is the reason, not the statement and not the content:
 * https://www.sqlite.org/rescode.html. The same request may succeed later.
 */
const outages: Readonly<Record<number, string>> = {
  5: 'the database is busy with another write',
  6: 'the database is busy with another write',
  7: 'the database has no memory left',
  8: 'the database cannot be written',
  10: 'the disk of the database fails',
  13: 'the disk of the database is full',
  14: 'the database cannot open a file',
  15: 'the database is busy with another write',
}
const BUSY = 5
const IO_ERROR = 10

/** The primary result code; undefined for what is no error of SQLite. */
function resultCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: unknown }
  // The higher bits say more exactly what failed.
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY
}

/** A read, a write or a sync of the disk failed. */
export function isDiskFailure(error: unknown): boolean {
  return resultCode(error instanceof AppError ? error.cause : error) === IO_ERROR
}

/** The error that a transaction ends with: an outage is 503. Any other stays what it is, a damaged page among them. */
export function sqliteProblem(error: unknown): unknown {
  const detail = outages[resultCode(error) ?? 0]
  return detail === undefined ? error : databaseUnavailable(error, detail)
}

/** The same where no transaction can begin: an outage whatever the reason, since a disk that fails can look damaged. */
export function noTransaction(error: unknown): AppError {
  const problem = sqliteProblem(error)
  return problem instanceof AppError ? problem : databaseUnavailable(error)
}
