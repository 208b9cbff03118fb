import { sqliteCodeOf } from '../core/error-fields.ts'
import { AppError } from '../core/errors.ts'
import type { Availability } from './availability.ts'
import { ReadThreadError } from './read-thread-client.ts'
import { databaseUnavailable } from './unavailable.ts'

/**
 * SQLite result codes caused by the file, the disk or the machine, not by the statement or its values:
 * https://www.sqlite.org/rescode.html. The same request may succeed later.
 */
const outages: Readonly<Record<number, string>> = {
  5: 'the database is busy with another write',
  6: 'the database is busy with another write',
  7: 'the database has no memory left',
  8: 'the database cannot be written',
  10: 'the disk of the database fails',
  11: 'the database file is damaged where this request reads it',
  13: 'the disk of the database is full',
  14: 'the database cannot open a file',
  15: 'the database is busy with another write',
  26: 'the database file is damaged where this request reads it',
}
const DAMAGES: readonly unknown[] = [11, 26]
/** What the log says. SQLite reports a read that fails with EIO as a damaged page, too. */
export const DAMAGED_PAGE =
  'a request needed a page of the database file that is damaged, and was answered 503: run purser doctor --content, stop the server and restore a backup from before the damage'
const BUSY = 5
const IO_ERROR = 10

/** The primary result code; undefined if the error is not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const errcode = sqliteCodeOf(error)
  // The higher bits are the extended code.
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY
}

/** A read, write or sync of the disk failed. */
export function isDiskFailure(error: unknown): boolean {
  return resultCode(error instanceof AppError ? error.cause : error) === IO_ERROR
}

/** A damaged page is no outage of the database: others can be read, and a probe would find nothing. */
export function reportOutage(availability: Availability, outage: unknown): void {
  const isDamage = DAMAGES.includes(resultCode(outage instanceof AppError ? outage.cause : outage))
  if (isDamage) availability.warn(outage, DAMAGED_PAGE)
  else availability.suspect(outage)
}

/** The error that a transaction ends with: 503 for an outage. Any other error stays. */
export function sqliteProblem(error: unknown): unknown {
  if (error instanceof ReadThreadError) {
    const problem = sqliteProblem(error.cause)
    return problem instanceof AppError ? problem : databaseUnavailable(error, error.message)
  }
  const detail = outages[resultCode(error) ?? 0]
  return detail === undefined ? error : databaseUnavailable(error, detail)
}

/**
 * The error if no transaction can begin. Always an outage (503), because a failing disk can look like a damaged file.
 */
export function noTransaction(error: unknown): AppError {
  const problem = sqliteProblem(error)
  return problem instanceof AppError ? problem : databaseUnavailable(error)
}
