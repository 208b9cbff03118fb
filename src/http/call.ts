import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Query } from '../jsonapi/query.ts'
import type { Held } from './bytes-in-flight.ts'

/** A request as the routes see it. */
export type Call = {
  readonly requestId: string
  readonly method: string
  /** The path that was asked for, as links write it: one spelling, without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly headers: IncomingHttpHeaders
  /** Scheme and host that absolute URLs in the answer begin with. */
  readonly origin: string
  /** The body as it arrives. */
  readonly stream: IncomingMessage
  /** When all of the request that was read so far was there, in milliseconds of `performance.now()`. */
  receivedAt: number
}

export type Answer = {
  readonly status: number
  /** Undefined: no body, and no content type. */
  readonly body?: string | Buffer | Readable
  readonly headers?: Readonly<Record<string, string>>
  /** Of the bytes in flight, until the answer has left. */
  /** What a streamed body has in memory, where that is little. */
  readonly streamBytes?: number
  readonly held?: Held
  /** It leaves at a whole step of time, as refusals do: what it was made from is not all the caller's to know. */
  readonly isSteady?: true
}

export const JSON_API = 'application/vnd.api+json'

/** Of what must not be kept by anyone: everything that has no rule of its own. */
const uncached = { 'content-type': JSON_API, 'cache-control': 'no-store' } as const

export function ok(body: string | Buffer | Readable): Answer {
  return { status: 200, body, headers: uncached }
}

/** Location is the resource's own link, as JSON:API wants it; a resource without one is found by its type and id. */
export function created(body: string): Answer {
  const { data } = JSON.parse(body) as { data: { type: string; id: string; links?: { self: string } } }
  const location = data.links?.self ?? `/api/v2/${data.type}/${data.id}`
  return { status: 201, body, headers: { ...uncached, location } }
}

export const noContent: Answer = { status: 204, headers: { 'cache-control': 'no-store' } }

export function errorAnswer(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return { status, body, headers: { ...uncached, ...headers } }
}
