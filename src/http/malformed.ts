import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { JSON_API } from './call.ts'
import { nextRequestId } from './request-id.ts'

/** By Node's error code. Importing node:http for STATUS_CODES would also load everything that `fetch` needs. */
const statuses: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}

/** A failure of TLS. Before the end of the handshake, an answer would wait for it for ever, and keep the connection. */
const OF_TLS = /^ERR_(TLS|SSL)_/

/** Answers invalid or too large HTTP with an error document, and closes the connection. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || OF_TLS.test(error.code ?? '') || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, reason] = statuses[error.code ?? ''] ?? [400, 'Bad Request']
  const body = JSON.stringify({ errors: [{ status: String(status), title: reason.toLowerCase() }] })
  const headers = [
    `HTTP/1.1 ${status} ${reason}`,
    `Content-Type: ${JSON_API}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${nextRequestId()}`,
    'Connection: close',
  ]
  socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`)
  // The rest is never read, so the client's end of the connection would go unnoticed.
  socket.destroySoon()
}

/** Answers what is malformed behind the answers to what came before it, or a client would take it for one of these. */
export class MalformedParts {
  /** Node tells of each piece that arrives behind a malformed one, too. */
  readonly #found = new WeakSet<Socket>()

  /** @param latest the answer to the latest request of the connection */
  answer(error: Error, socket: Socket, latest: ServerResponse | undefined): void {
    const answer = () => answerMalformed(error, socket)
    if (latest === undefined || latest.writableFinished || !socket.writable) {
      answer()
      return
    }
    if (this.#found.has(socket)) return
    this.#found.add(socket)
    if (latest.req.complete) latest.once('close', answer)
    // The malformed part is in the body of a request that waits for earlier answers.
    else if (latest.socket === null) latest.once('socket', answer)
    else answer()
  }
}
