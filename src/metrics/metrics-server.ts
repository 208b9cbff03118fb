import type { IncomingMessage, ServerResponse } from 'node:http'
import { listenOn } from '../core/listen.ts'
import { EXPOSITION_TYPE, expositionOf } from './exposition.ts'
import type { ReadMetrics } from './server-metrics.ts'

// As in http/server.ts: an import would load the code of `fetch`, too.
const { createServer } = process.getBuiltinModule('node:http')
const PATH = '/metrics'
/** They need files that the address of the clients and the database must have, too. */
const MAX_CONNECTIONS = 20

/** Answers GET /metrics at an address of its own, to anybody who reaches it. */
export class MetricsServer {
  readonly #read: ReadMetrics
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy())
  })
  #reading: Promise<string> | undefined

  constructor(read: ReadMetrics) {
    this.#read = read
    this.#server.maxConnections = MAX_CONNECTIONS
  }

  /** Returns the port. Rejects with the system's error if it cannot listen. */
  listen(host: string, port: number): Promise<number> {
    return listenOn(this.#server, host, port)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== PATH || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`only GET ${PATH} is here\n`)
      return
    }
    // Requests that come at once share an answer.
    this.#reading ??= this.#read()
      .then(expositionOf)
      .finally(() => (this.#reading = undefined))
    const text = await this.#reading
    response.writeHead(200, { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' }).end(text)
  }
}
