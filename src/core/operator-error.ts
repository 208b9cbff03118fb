/** An error for the person who runs the command: a line for each problem, no stack trace, exit code 1. */
export class OperatorError extends Error {}

/** Runs work that writes files; its errors are thrown as OperatorError. */
export function writingTo<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`cannot write to ${place}: ${reasonOf(error)}`)
  }
}

/** The message of anything that was thrown. */
export function reasonOf(error: unknown): string {
  // Node tries every address of a host name and throws one AggregateError without a message.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((one) => reasonOf(one)).join(', ')
  }
  return error instanceof Error ? error.message : String(error)
}
