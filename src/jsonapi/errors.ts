import type { AppError, ErrorCode, Problem } from '../core/errors.ts'

/** HTTP status and title of each kind of error. go-tfe reads some of the titles: see docs/reference/wire.md. */
const answers = {
  unauthorized: { status: 401, title: 'unauthorized' },
  'too-slow': { status: 408, title: 'request timeout' },
  'too-large': { status: 413, title: 'payload too large' },
  'invalid-include': { status: 400, title: 'Invalid include parameter' },
  'invalid-query': { status: 400, title: 'invalid query parameter' },
  'bad-request': { status: 400, title: 'bad request' },
  'not-found': { status: 404, title: 'not found' },
  forbidden: { status: 403, title: 'forbidden' },
  'unsupported-media-type': { status: 415, title: 'unsupported media type' },
  invalid: { status: 422, title: 'invalid attribute' },
  conflict: { status: 409, title: 'conflict' },
  'precondition-failed': { status: 412, title: 'precondition failed' },
  'too-many': { status: 429, title: 'too many requests' },
  unavailable: { status: 503, title: 'service unavailable' },
} satisfies Record<ErrorCode, { status: number; title: string }>

export function statusOf(code: ErrorCode): number {
  return answers[code].status
}

/** A JSON:API error document with one object for each problem; without problems, one without a detail. */
export function errorDocument(error: AppError): string {
  const kind = answers[error.code]
  const problems: readonly Partial<Problem>[] = error.problems.length > 0 ? error.problems : [{}]
  return JSON.stringify({
    errors: problems.map(({ title, detail, pointer, parameter, code }) => ({
      status: String(kind.status),
      code,
      title: title ?? kind.title,
      detail,
      source: pointer === undefined && parameter === undefined ? undefined : { pointer, parameter },
    })),
  })
}

/** The document for an internal error. It says only where to look in the log. */
export function internalErrorDocument(requestId: string): string {
  const detail = `the server failed to handle the request; its log has the details under the request id ${requestId}`
  return JSON.stringify({ errors: [{ status: '500', title: 'internal server error', detail }] })
}
