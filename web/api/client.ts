import { ApiError, needsPassword, type Problem } from './errors.ts'

export type Identifier = { readonly type: string; readonly id: string }

/** A JSON:API resource as the pages read it. */
export type Resource<Attributes> = {
  readonly id: string
  readonly type: string
  readonly attributes: Attributes
  readonly relationships?: Readonly<
    Record<string, { readonly data?: Identifier | readonly Identifier[] | null }>
  >
}

/** The one that a relationship names. */
export function related({ relationships }: Resource<unknown>, name: string): Identifier | undefined {
  const data = relationships?.[name]?.data
  return data === undefined || data === null || 'length' in data ? undefined : data
}

/** The included one that a relationship names. Undefined if the caller may not see it. */
export function includedAs<Attributes>(
  included: readonly Resource<Attributes>[] | undefined,
  resource: Resource<unknown>,
  name: string,
): Resource<Attributes> | undefined {
  return included?.find(({ id }) => id === related(resource, name)?.id)
}

export type One<Attributes> = { readonly data: Resource<Attributes> }
export type Page<Attributes> = {
  readonly data: readonly Resource<Attributes>[]
  readonly meta: {
    readonly pagination: {
      readonly 'current-page': number
      readonly 'next-page': number | null
      readonly 'total-pages': number
      readonly 'total-count': number
    }
  }
}

export const SIGN_IN = '/sessions'

type ErrorBody = {
  readonly errors?: readonly {
    title: string
    detail?: string
    code?: string
    source?: { pointer?: string }
  }[]
}

type Asked<Answer> = {
  readonly method?: string
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** The answer to the same request before. It is the answer again if the server says that nothing has changed. */
  readonly before?: Answer | undefined
  /** Default: JSON.parse. */
  readonly parse?: (text: string) => unknown
}

/**
 * The address of a request. An id in the path may come from the address of a page, which anybody can write: it must not
 * lead to another path, such as that of a sensitive value, which is audited.
 */
function addressOf(path: string): string {
  const address = `/api/v2${path}`
  const { pathname } = new URL(address, 'https://any.invalid')
  if (pathname !== address.split(/[?#]/, 1)[0]) throw new ApiError(404, [], '', undefined)
  return address
}

/** What is between the pages and the server, such as a proxy, answers in other forms. */
function isJson({ headers }: Response): boolean {
  return headers.get('content-type')?.includes('json') === true
}

const listeners = new Set<(refused: ApiError) => void>()

/** Calls the listener with each answer 401, except of a sign-in. Returns what ends that. */
export function onUnauthorized(listener: (refused: ApiError) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Asks the reader for the password. Resolves to whether it was right. */
type Asker = () => Promise<boolean>
const askers = new Set<Asker>()

/** Calls the asker when the server wants the password again. Returns what ends that. */
export function onPasswordNeeded(asker: Asker): () => void {
  askers.add(asker)
  return () => void askers.delete(asker)
}

/** The ETag of each answer that has one. */
const etags = new WeakMap<object, string>()

/**
 * The only request of the pages. It is sent once more after the reader has given the password, if the server wants that.
 *
 * @param path below /api/v2
 * @throws ApiError
 */
export async function request<Answer extends object | undefined>(
  path: string,
  asked: Asked<Answer> = {},
): Promise<Answer> {
  try {
    return await send(path, asked)
  } catch (error) {
    const [ask] = askers
    if (ask === undefined || !needsPassword(error) || !(await ask())) throw error
    return send(path, asked)
  }
}

async function send<Answer extends object | undefined>(
  path: string,
  { method = 'GET', body, signal, before, parse = JSON.parse }: Asked<Answer>,
): Promise<Answer> {
  const etag = before === undefined ? undefined : etags.get(before)
  const response = await fetch(addressOf(path), {
    method,
    credentials: 'same-origin',
    headers: {
      // Pages of other sites cannot send this header.
      'X-Purser-Page': '1',
      ...(body === undefined ? {} : { 'Content-Type': 'application/vnd.api+json' }),
      // With a header of our own the browser's cache leaves the 304 to us.
      ...(etag === undefined ? {} : { 'If-None-Match': etag }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: signal ?? null,
  })
  if (response.status === 304 && before !== undefined) return before
  const text = await response.text()
  const json: unknown = text === '' || !(response.ok || isJson(response)) ? undefined : parse(text)
  if (response.ok) {
    const tag = response.headers.get('etag')
    if (tag !== null && typeof json === 'object' && json !== null) etags.set(json, tag)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names what the path answers
    return json as Answer
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a missing member is no problem
  const problems: Problem[] = ((json as ErrorBody | undefined)?.errors ?? []).map(
    ({ title, detail, code, source }) => ({
      title,
      detail,
      code,
      pointer: source?.pointer,
    }),
  )
  const retryAfter = response.headers.get('retry-after')
  const refused = new ApiError(
    response.status,
    problems,
    response.headers.get('x-request-id') ?? '',
    retryAfter === null ? undefined : Number(retryAfter),
  )
  if (response.status === 401 && path !== SIGN_IN) for (const tell of listeners) tell(refused)
  throw refused
}

/** The path of what an organization has, such as its teams. */
export function inOrganization(name: string, what: string): string {
  return `/organizations/${encodeURIComponent(name)}/${what}`
}

/** The path of a page of a list. Parameters without a value are left out. */
export function pageOf(
  path: string,
  page: number,
  size: number,
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const query = new URLSearchParams({ 'page[size]': String(size), 'page[number]': String(page) })
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, value)
  }
  return `${path}?${query}`
}

/** The pages of a list, from the first one on. Each is asked for when the one before has been looked at. */
export async function* pagesOf<List extends Page<unknown>>(
  path: string,
  parameters?: Readonly<Record<string, string | undefined>>,
  asked?: Pick<Asked<List>, 'signal'>,
): AsyncGenerator<List> {
  for (let page: number | null = 1; page !== null;) {
    const list: List = await request<List>(pageOf(path, page, 100, parameters), asked)
    yield list
    page = list.meta.pagination['next-page']
  }
}

/** A document with one resource, to send. */
export function resource(type: string, attributes: object): object {
  return { data: { type, attributes } }
}
