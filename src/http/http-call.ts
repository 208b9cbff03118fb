import { existing } from '../core/existing.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Query } from '../jsonapi/query.ts'
import type { Call } from './call.ts'
import type { RunnerDeps } from './deps.ts'

/** The route that the router found for a request. */
export type FoundRoute = {
  /** The whole path, with `:name` for parameters; empty for an unknown path. */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
}

/** A call over HTTP. It is a class with getters, because one is made for each request and few values are used. */
export class HttpCall implements Call {
  readonly requestId: string
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly stream: IncomingMessage
  receivedAt = performance.now()
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

  /** Built from the route: the requested path may have a scheme, a host, a fragment or any escapes. */
  get path(): string {
    return this.route.replaceAll(/:([a-z_]+)/g, (_, name: string) => existing(this.params[name]))
  }

  get headers(): IncomingHttpHeaders {
    return this.stream.headers
  }

  get origin(): string {
    const { config } = this.#deps
    if (config.publicUrl !== undefined) return config.publicUrl
    const scheme =
      this.#forwarded('x-forwarded-proto')?.toLowerCase() ?? (config.tlsCert === undefined ? 'http' : 'https')
    const host =
      this.#forwarded('x-forwarded-host') ??
      this.headers.host ??
      `${config.listen.host}:${config.listen.port}`
    return `${scheme}://${host}`
  }

  #forwarded(name: string): string | undefined {
    return this.#deps.config.trustProxy ? this.headers[name]?.toString().split(',', 1)[0]?.trim() : undefined
  }
}
