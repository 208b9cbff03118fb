import { existing } from '../core/existing.ts'
import { addressText } from '../core/listen.ts'
import { parseStored } from '../core/stored-json.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Query } from '../jsonapi/query.ts'
import type { Held } from '../core/bytes-in-flight.ts'
import { addressOf } from '../sessions/client-address.ts'
import type { RunnerDeps } from './deps.ts'

/** The route that the router found for a request. */
export type FoundRoute = {
  /** The whole path, with `:name` for parameters; empty for an unknown path. */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

/** A request as routes see it. It has getters, because one is made for each request and few values are used. */
export class Call {
  readonly requestId: string
  /** The path of the route, with `:name` for parameters; empty for an unknown path. */
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** The body while it arrives. */
  readonly stream: IncomingMessage
  /** When the part of the request read so far had arrived, in milliseconds of `performance.now()`. */
  receivedAt = performance.now()
  /** The id of the user, team or organization that sends it, as soon as it is known. */
  account: string | undefined = undefined
  /** A write may run more than once. */
  isRefusalNoted = false
  /** See callerHashOf. */
  callerHash: string | undefined
  readonly #deps: RunnerDeps

  constructor(request: IncomingMessage, route: FoundRoute, requestId: string, deps: RunnerDeps) {
    const url = existing(request.url)
    const mark = url.indexOf('?')
    this.requestId = requestId
    this.params = route.params
    this.query = deps.queries.of(mark === -1 ? '' : url.slice(mark + 1))
    this.stream = request
    this.route = route.url
    this.#deps = deps
  }

  get method(): string {
    return existing(this.stream.method)
  }

  /**
   * The requested path in one canonical spelling, without the query, for links. Built from the route: the requested path
   * may have a scheme, a host, a fragment or any escapes.
   */
  get path(): string {
    return this.route.replaceAll(/:([a-z_]+)/g, (_, name: string) => existing(this.params[name]))
  }

  get headers(): IncomingHttpHeaders {
    return this.stream.headers
  }

  /** The address of the client. Null for a command that uses its own server. */
  get address(): string | null {
    const { operator, config } = this.#deps
    return operator === undefined ? (addressOf(this, config) ?? null) : null
  }

  /** Scheme and host for absolute URLs in the answer. */
  get origin(): string {
    const { config } = this.#deps
    if (config.publicUrl !== undefined) return config.publicUrl
    const scheme =
      this.#forwarded('x-forwarded-proto')?.toLowerCase() || (config.tlsCert === undefined ? 'http' : 'https')
    const host =
      this.#forwarded('x-forwarded-host') ||
      // Without a host, or with an empty one, as health checks send it.
      this.headers.host ||
      addressText(config.listen)
    return `${scheme}://${host}`
  }

  #forwarded(name: string): string | undefined {
    return this.#deps.config.trustProxy ? this.headers[name]?.toString().split(',', 1)[0]?.trim() : undefined
  }
}

export type AnswerBody = string | Buffer | Readable

export type Answer = {
  readonly status: number
  /** Undefined: no body and no content type. */
  readonly body?: AnswerBody
  readonly headers?: Readonly<Record<string, string>>
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[]
  /** Memory of a streamed body, if it is less than the default. */
  readonly streamBytes?: number
  /** Counted in the bytes in flight until the answer was sent. */
  readonly held?: Held
  /** Sent at a whole time step, like a refusal, because it was computed from data that the caller may not see. */
  readonly isSteady?: true
}

export const JSON_API = 'application/vnd.api+json'

/** The default: nobody may cache the answer. */
const uncached = { 'content-type': JSON_API, 'cache-control': 'no-store' } as const

export function ok(body: AnswerBody): Answer {
  return { status: 200, body, headers: uncached }
}

/** An answer that is JSON and not JSON:API. */
export function json(value: object, status = 200): Answer {
  const headers = { ...uncached, 'content-type': 'application/json' }
  return { status, body: JSON.stringify(value), headers }
}

/** An answer that the client may keep and ask again with its ETag. */
export function tagged(tag: string, body: AnswerBody): Answer {
  const headers = { 'content-type': JSON_API, 'cache-control': 'private, no-cache', etag: `"${tag}"` }
  return { status: 200, body, headers }
}

/** The answer of a route with this status. A document that is a whole answer stays as it is. */
export function answerOf(status: 200 | 201, made: AnswerBody | Answer): Answer {
  if (isAnswer(made)) return made
  if (status === 200) return ok(made)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no streamed body has status 201
  return created(made as string)
}

function isAnswer(made: AnswerBody | Answer): made is Answer {
  return typeof made === 'object' && 'status' in made
}

/** Location is the resource's own link, as JSON:API requires; without one it is made of type and id. */
export function created(body: string): Answer {
  const { data } = parseStored<{ data: { type: string; id: string; links?: { self: string } } }>(body)
  const location = data.links?.self ?? `/api/v2/${data.type}/${data.id}`
  return { status: 201, body, headers: { ...uncached, location } }
}

export const noContent: Answer = { status: 204, headers: { 'cache-control': 'no-store' } }

export function errorAnswer(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return { status, body, headers: { ...uncached, ...headers } }
}
