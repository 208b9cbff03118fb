import type { Logger } from 'pino'
import { AppError } from '../core/errors.ts'

/**
 * The database cannot do what was asked, for a moment: the request is answered 503 with Retry-After. Each engine throws it
 * in place of its driver's error, where a transaction ends. `detail` is for the caller and names no file or host.
 */
export function databaseUnavailable(cause: unknown, detail = 'the database does not answer'): AppError {
  return new AppError('unavailable', [{ detail }], { cause })
}

export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable'
}

/** Logs the failure of a job that will be repeated. An outage of the database is logged already, once for all. */
export function logRepeated(log: Logger, error: unknown, message: string, details: object = {}): void {
  log[isUnavailable(error) ? 'debug' : 'warn']({ error, ...details }, message)
}
