import { asksForFields, Conformity } from './conformity.ts'

/** The body of every 404, for missing and for hidden objects. */
export const NOT_FOUND = '{"errors":[{"status":"404","title":"not found"}]}'

/** A resource with the fields that tests use. */
export type Resource = {
  id: string
  type: string
  attributes: Record<string, never>
  relationships: Record<string, { data: never; meta?: never }>
  links: Record<string, string>
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into by tests, which assert their shape
export type Json = any

export type Response = { status: number; headers: Headers; text: string; json: Json }

/** Every answer to any test is checked against the OpenAPI document. */
let conformity: Conformity | undefined

function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/]+/, '').split(/[?#]/, 1)[0] as string
}

/** Sends JSON:API requests to a server with one token. */
export class Client {
  readonly address: string
  readonly token: string | undefined

  readonly #isOfThisRelease: boolean

  /** @param isOfThisRelease whether answers are compared with the OpenAPI document; an older release lacks attributes */
  constructor(address: string, token?: string, isOfThisRelease = true) {
    this.#isOfThisRelease = isOfThisRelease
    this.address = address
    this.token = token
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.request('GET', path, undefined, headers)
  }
  post(path: string, body?: unknown): Promise<Response> {
    return this.request('POST', path, body)
  }
  patch(path: string, body?: unknown): Promise<Response> {
    return this.request('PATCH', path, body)
  }
  delete(path: string, body?: unknown): Promise<Response> {
    return this.request('DELETE', path, body)
  }

  /** @param path below /api/v2, or a whole URL */
  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const url = path.startsWith('http') ? path : `${this.address}/api/v2${path}`
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        'content-type': 'application/vnd.api+json',
        ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const seen = { status: response.status, headers: response.headers, text }
    const problem = this.#isOfThisRelease
      ? (conformity ??= new Conformity()).problem(method, pathOf(url), seen, asksForFields(url))
      : undefined
    if (problem !== undefined) throw new Error(problem)
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    }
  }
}
