import { ApiError, type Problem } from './errors.ts'

/** A JSON:API resource as the pages read it. */
export type Resource<Attributes> = {
  readonly id: string
  readonly type: string
  readonly attributes: Attributes
  readonly relationships?: Readonly<Record<string, { readonly data?: unknown }>>
}

export type One<Attributes> = { readonly data: Resource<Attributes> }
export type Page<Attributes> = {
  readonly data: readonly Resource<Attributes>[]
  readonly meta: {
    readonly pagination: {
      readonly 'current-page': number
      readonly 'next-page': number | null
      readonly 'total-count': number
    }
  }
}

type ErrorBody = {
  readonly errors?: readonly { title: string; detail?: string; source?: { pointer?: string } }[]
}

type Asked = {
  readonly method?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Default: JSON.parse. */
  readonly parse?: (text: string) => unknown
}

/**
 * The only request of the pages.
 *
 * @param path below /api/v2
 * @throws ApiError
 */
export async function request<Answer>(
  path: string,
  { method = 'GET', body, signal, parse = JSON.parse }: Asked = {},
): Promise<Answer> {
  const response = await fetch(`/api/v2${path}`, {
    method,
    credentials: 'same-origin',
    headers: {
      // Pages of other sites cannot send this header.
      'X-Purser-Page': '1',
      ...(body === undefined ? {} : { 'Content-Type': 'application/vnd.api+json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  const text = await response.text()
  const json: unknown = text === '' ? undefined : parse(text)
  if (response.ok) return json as Answer
  const problems: Problem[] = ((json as ErrorBody | undefined)?.errors ?? []).map(
    ({ title, detail, source }) => ({
      title,
      detail,
      pointer: source?.pointer,
    }),
  )
  const retryAfter = response.headers.get('retry-after')
  throw new ApiError(
    response.status,
    problems,
    response.headers.get('x-request-id') ?? '',
    retryAfter === null ? undefined : Number(retryAfter),
  )
}

/** A document with one resource, to send. */
export function resource(type: string, attributes: object): object {
  return { data: { type, attributes } }
}
