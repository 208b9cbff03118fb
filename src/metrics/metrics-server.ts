import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { listenOn } from '../core/listen.ts'
import { EXPOSITION_TYPE, expositionOf } from './exposition.ts'
import type { ReadMetrics } from './server-metrics.ts'

// As in http/server.ts: an import would load the code of `fetch`, too.
const { createServer } = process.getBuiltinModule('node:http')
const PATH = '/metrics'

/**
 * Answers GET /metrics at an address of its own, to anybody who reaches it. Returns the port. Rejects with the system's
 * error if it cannot listen.
 * @param limit bounds the connections of the server
 */
export function answerMetrics(
  read: ReadMetrics,
  limit: (server: Server) => void,
  host: string,
  port: number,
): Promise<number> {
  let reading: Promise<string> | undefined
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path] = (request.url ?? '').split('?', 1)
    if (path !== PATH || !['GET', 'HEAD'].includes(request.method ?? '')) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`only GET ${PATH} is here\n`)
      return
    }
    // Requests that come at once share an answer.
    reading ??= read()
      .then(expositionOf)
      .finally(() => (reading = undefined))
    const text = await reading
    response.writeHead(200, { 'content-type': EXPOSITION_TYPE, 'cache-control': 'no-store' }).end(text)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  limit(server)
  return listenOn(server, host, port)
}
