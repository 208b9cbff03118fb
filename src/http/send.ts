import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Answer } from './call.ts'
import { cutOff } from './connections.ts'
import type { RunnerDeps } from './deps.ts'
import { endLingering, mustClose } from './linger.ts'

const SHORT_BYTES = 4096
/** For a year, browsers use https only. Only for this host: others of its domain may have http. */
const HSTS = 'max-age=31536000'

/**
 * Writes the answers of one turn of the event loop together. A write that wakes a sleeping client can cost as much as the
 * rest of its request, and a client with several connections, such as a proxy, is awake after the first write. Answers that
 * come one by one are written at once.
 */
export class Writes {
  #waiting: (() => void)[] = []
  #count = 0
  #cameAlone = true

  add(write: () => void): void {
    this.#count += 1
    // Immediates run after all requests that have arrived were read.
    if (this.#count === 1) setImmediate(() => this.#endTurn())
    if (this.#count === 1 && this.#cameAlone) write()
    else this.#waiting.push(write)
  }

  /** Writes what waits, before something else in this turn could delay it. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const write of waiting) write()
  }

  #endTurn(): void {
    this.#cameAlone = this.#count === 1
    this.#count = 0
    this.flush()
  }
}

/** Returns a promise only for a body that is streamed, and if the connection has to be closed later. */
export function send(
  request: IncomingMessage,
  raw: ServerResponse,
  answer: Answer,
  requestId: string,
  { config, drain, writes }: RunnerDeps,
): Promise<void> | undefined {
  const { body } = answer
  // Alternating names and values, the fastest form for node:http.
  const headers: (string | number)[] = ['x-content-type-options', 'nosniff', 'x-request-id', requestId]
  if (config.tlsCert !== undefined) headers.push('strict-transport-security', HSTS)
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  for (const cookie of answer.cookies ?? []) headers.push('set-cookie', cookie)
  // The body was refused unread. Waiting for the rest of a large one is not worth it.
  const isClosing = mustClose(request, answer.status)
  // Node drops what a client has sent behind an Upgrade request, so no request may follow it on the connection.
  if (isClosing || drain.isClosing || request.headers.upgrade !== undefined)
    headers.push('connection', 'close')
  // Discard the rest of a short body, or it would be read as the next request.
  else if (!request.complete) request.resume()
  if (body instanceof Readable) {
    raw.writeHead(answer.status, headers)
    if (request.method !== 'HEAD') {
      if (!raw.useChunkedEncodingByDefault) body.once('error', () => cutOff(request.socket))
      return pipeline(body, raw)
    }
    body.destroy()
    raw.end()
    return undefined
  }
  const length = body === undefined ? 0 : Buffer.byteLength(body)
  if (body !== undefined) headers.push('content-length', length)
  if (isClosing) {
    raw.writeHead(answer.status, headers)
    return endLingering(request, raw, body)
  }
  writes.add(() => {
    raw.writeHead(answer.status, headers)
    // Node writes a short text together with the head, which takes half as long as a separate buffer.
    if (body instanceof Buffer && length <= SHORT_BYTES) raw.end(body.toString('latin1'), 'latin1')
    // Equal lengths mean ASCII, which needs no UTF-8 encoding.
    else if (typeof body === 'string' && length === body.length) raw.end(body, 'latin1')
    else raw.end(body)
  })
  return undefined
}
