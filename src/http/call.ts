import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Query } from '../jsonapi/query.ts'

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
  readonly stream: Readable
}

export type Answer = {
  readonly status: number
  /** Undefined: no body, and no content type. */
  readonly body?: string | Buffer | Readable
  readonly headers?: Readonly<Record<string, string>>
}

export const JSON_API = 'application/vnd.api+json'

/** Of what must not be kept by anyone: everything that has no rule of its own. */
const uncached = { 'content-type': JSON_API, 'cache-control': 'no-store' } as const

export function ok(body: string | Buffer | Readable): Answer {
  return { status: 200, body, headers: uncached }
}

export function created(body: string): Answer {
  return { status: 201, body, headers: uncached }
}

export const noContent: Answer = { status: 204, headers: { 'cache-control': 'no-store' } }

export function errorAnswer(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return { status, body, headers: { ...uncached, ...headers } }
}
