import type { Socket } from 'node:net'
import { JSON_API } from './call.ts'
import { nextRequestId } from './request-id.ts'

/** By Node's name of what went wrong. Importing node:http for its STATUS_CODES would load all that `fetch` needs too. */
const statuses: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}

/** Answers what is no HTTP, or too much of it: an error document like any other, and the end of the connection. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
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
  // Nobody reads the rest, so that the other side's end would never be noticed.
  socket.destroySoon()
}
