import { codeOf } from '../core/error-fields.ts'
import pino, { type DestinationStream, type Logger } from 'pino'

/** A log of JSON lines, to standard output by default. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino({ level, serializers: { error: describe } }, destination)
}

/**
 * Without this, an error is logged as `{}`. Of its own properties only the code is logged, because PostgreSQL puts the
 * refused row into others.
 */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = codeOf(error)
  const cause = error.cause === undefined ? {} : { cause: describe(error.cause) }
  return { type: error.name, message: error.message, code, stack: error.stack, ...cause }
}
