/** One problem of a refused request. */
export type Problem = {
  readonly title: string
  readonly detail?: string
  readonly pointer?: string
  readonly code?: string
}

/** An answer that is not a success. */
export class ApiError extends Error {
  readonly status: number
  readonly problems: readonly Problem[]
  /** Names the request in the server's log and in the refusals. */
  readonly requestId: string
  /** In how many seconds to try again. */
  readonly retryAfter: number | undefined

  constructor(
    status: number,
    problems: readonly Problem[],
    requestId: string,
    retryAfter: number | undefined,
  ) {
    super(problems.map(({ title, detail }) => detail ?? title).join('; ') || `the server answered ${status}`)
    this.status = status
    this.problems = problems
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}

/** Whether the server wants the password again, because it was given too long ago. */
export function needsPassword(error: unknown): boolean {
  return error instanceof ApiError && error.problems.some(({ code }) => code === 'password-needed')
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status
}
