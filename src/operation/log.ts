import pino, { type DestinationStream, type Logger } from 'pino'

/** Lines of JSON, by default on standard output. */
export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino({ level, serializers: { error: describe } }, destination as DestinationStream)
}

/**
 * Left to themselves, errors become `{}`. Of their own properties only the code is taken: PostgreSQL puts the row that it
 * refused into others.
 */
function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as { code?: unknown }
  const cause = error.cause === undefined ? {} : { cause: describe(error.cause) }
  return { type: error.name, message: error.message, code, stack: error.stack, ...cause }
}
