import type { Logger } from 'pino'
import { AppError } from '../core/errors.ts'

/**
 * The database temporarily cannot serve the request: 503 with Retry-After. At the end of a transaction each engine
 * throws it in place of the driver's error. The caller sees `detail`, so it must not name a file or host.
 */
export function databaseUnavailable(cause: unknown, detail = 'the database does not answer'): AppError {
  return new AppError('unavailable', detail, { cause })
}

export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable'
}

/** Logs the failure of a job that will be retried. At debug level for an outage, which is logged once elsewhere. */
export function logRepeated(log: Logger, error: unknown, message: string, details: object = {}): void {
  log[isUnavailable(error) ? 'debug' : 'warn']({ error, ...details }, message)
}
