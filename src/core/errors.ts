/**
 * All kinds of errors, independent of HTTP. Only jsonapi/errors.ts maps them to statuses: a code that is missing there
 * does not compile.
 */
export type ErrorCode =
  | 'unauthorized'
  | 'too-slow'
  | 'too-large'
  | 'invalid-include'
  | 'invalid-query'
  | 'not-found'
  | 'forbidden'
  | 'unsupported-media-type'
  | 'invalid'
  | 'conflict'
  | 'precondition-failed'
  | 'bad-request'
  | 'unavailable'
  | 'too-many'

/**
 * One problem of a request. `pointer` is a JSON pointer into the body, `parameter` the name of a query parameter. A client
 * does something else than show the text of a problem with a `code`.
 */
export type Problem = { detail: string; pointer?: string; parameter?: string; title?: string; code?: string }

export class AppError extends Error {
  readonly code: ErrorCode
  readonly problems: readonly Problem[]

  /** @param given the problems, or the text of the only one */
  constructor(code: ErrorCode, given: readonly Problem[] | string = [], options?: ErrorOptions) {
    const problems = typeof given === 'string' ? [{ detail: given }] : given
    super(problems.map((problem) => problem.detail).join('; ') || code, options)
    this.name = 'AppError'
    this.code = code
    this.problems = problems
  }
}

/** Too many attempts: they may go on after some seconds. */
export class TooManyAttempts extends AppError {
  readonly seconds: number

  constructor(detail: string, seconds: number) {
    super('too-many', detail)
    this.seconds = seconds
  }
}

/** What a server may have too little of for all requests. */
export const shortages = ['database', 'memory', 'uploads'] as const
export type Shortage = (typeof shortages)[number]

/** 503, because other requests use up what this one needs. */
export class Overload extends AppError {
  readonly of: Shortage

  constructor(of: Shortage, detail: string) {
    super('unavailable', detail)
    this.of = of
  }
}

/** The only 404: for a missing object and for one that the caller may not see or change. */
export function notFound(): AppError {
  return new AppError('not-found')
}

export function invalid(detail: string, pointer?: string): AppError {
  return new AppError('invalid', [{ detail, pointer }])
}

/** A 422 for one problem that several places report. */
export function invalidBy(problem: Problem): AppError {
  return new AppError('invalid', [problem])
}

export function badRequest(detail: string): AppError {
  return new AppError('bad-request', detail)
}

/** The query parameter of this name has a value that cannot be read. */
export function invalidQuery(detail: string, parameter: string): AppError {
  return new AppError('invalid-query', [{ detail, parameter }])
}

export function conflict(detail: string): AppError {
  return new AppError('conflict', detail)
}
