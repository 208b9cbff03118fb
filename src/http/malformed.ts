import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { JSON_API } from './call.ts'
import { nextRequestId } from './request-id.ts'

/** By Node's name of what went wrong; anything else is 400. */
const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}

/** Answers what is no HTTP, or too much of it: an error document like any other, and the end of the connection. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const status = statuses[error.code ?? ''] ?? 400
  const title = (STATUS_CODES[status] as string).toLowerCase()
  const body = JSON.stringify({ errors: [{ status: String(status), title }] })
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
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
