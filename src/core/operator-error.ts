/** What is wrong, said to whoever runs the command: a line for each problem, no stack trace, and the exit code 1. */
export class OperatorError extends Error {}

/** Runs what writes files; throws OperatorError for what fails in it. */
export function writingTo<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`cannot write to ${place}: ${reasonOf(error)}`)
  }
}

/** The message of whatever was thrown. */
export function reasonOf(error: unknown): string {
  // Node tries every address of a host name, and puts what it met into one error without a message.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((one) => reasonOf(one)).join(', ')
  }
  return error instanceof Error ? error.message : String(error)
}
