import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Call } from './call.ts'

/** A line for each request, or for each slow one, when its answer is sent or its connection is lost. */
export class AccessLog {
  readonly #log: Logger
  readonly #leastMs: number

  /** Undefined if no line is wanted. The lines do not depend on the level of the log. */
  static of(log: Logger, { accessLog, accessLogSlowMs }: Config): AccessLog | undefined {
    if (accessLog === 'off') return undefined
    return new AccessLog(log.child({}, { level: 'info' }), accessLog === 'all' ? 0 : accessLogSlowMs)
  }

  private constructor(log: Logger, leastMs: number) {
    this.#log = log
    this.#leastMs = leastMs
  }

  follow(call: Call, response: ServerResponse): void {
    // Read now: the connection may be gone then, and `receivedAt` is later for a body that took long.
    const { address, receivedAt } = call
    response.once('close', () => this.#note(call, { address, receivedAt }, response))
  }

  /** A request that was not begun, because its connection ended while it waited for earlier answers. */
  lost(call: Call, response: ServerResponse): void {
    this.#note(call, call, response)
  }

  #note(
    { method, route, account, requestId }: Call,
    { address, receivedAt }: Pick<Call, 'address' | 'receivedAt'>,
    response: ServerResponse,
  ): void {
    const ms = Math.round((performance.now() - receivedAt) * 10) / 10
    if (ms < this.#leastMs) return
    const line = {
      method,
      // Never the path or the query: they may hold a secret.
      route: route === '' ? null : route,
      status: response.headersSent ? response.statusCode : null,
      ms,
      account: account ?? null,
      address,
      requestId,
    }
    this.#log.info(response.writableFinished ? line : { ...line, aborted: true }, 'request')
  }
}
