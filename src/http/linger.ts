import type { IncomingMessage, ServerResponse } from 'node:http'

const MAX_IGNORED_BODY_BYTES = 1024 * 1024
const MAX_LINGER_BYTES = 8 * 1024 * 1024
const MAX_LINGER_MS = 2_000

/** Whether a request was answered while so much of its body is still to come that the connection is given up for it. */
export function mustClose(request: IncomingMessage): boolean {
  if (request.complete) return false
  return (
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > MAX_IGNORED_BODY_BYTES
  )
}

/**
 * Sends the answer at once and ends the connection a little later: closed with bytes unread, the client's system would
 * throw the answer away before the client has read it (RFC 9112, 9.6).
 */
export async function endLingering(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer | undefined,
): Promise<void> {
  if (body === undefined) response.flushHeaders()
  else response.write(body)
  await discarded(request)
  response.end()
}

function discarded(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = MAX_LINGER_BYTES
    const finish = () => {
      clearTimeout(timer)
      request.off('data', take).off('end', finish).off('close', finish)
      resolve()
    }
    const take = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) finish()
    }
    const timer = setTimeout(finish, MAX_LINGER_MS)
    if (request.destroyed || request.readableEnded) finish()
    else request.on('data', take).on('end', finish).on('close', finish)
  })
}
