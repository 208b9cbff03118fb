import type { IncomingMessage, ServerResponse } from 'node:http'

const MAX_IGNORED_BODY_BYTES = 1024 * 1024
/** The default limit of a state: many clients read no answer before they have sent everything. */
const MAX_LINGER_BYTES = 512 * 1024 * 1024
const MAX_LINGER_MS = 60_000
/** A client that is silent for this long will send nothing more. */
const MAX_SILENCE_MS = 10_000

/** Whether to close the connection after this answer, because too much of the request's body is still unread. */
export function mustClose(request: IncomingMessage, status: number): boolean {
  if (request.complete) return false
  return (
    status === 408 ||
    request.headers.upgrade !== undefined ||
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > MAX_IGNORED_BODY_BYTES
  )
}

/**
 * Sends the answer at once and ends the connection later. If it were closed with unread bytes, the client's system
 * would discard the answer before the client reads it (RFC 9112, 9.6).
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
      clearTimeout(longest)
      clearTimeout(silence)
      request.off('data', take).off('end', finish).off('close', finish)
      resolve()
    }
    const take = (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) finish()
      else silence.refresh()
    }
    const longest = setTimeout(finish, MAX_LINGER_MS)
    const silence = setTimeout(finish, MAX_SILENCE_MS)
    if (request.destroyed || request.readableEnded) finish()
    else request.on('data', take).on('end', finish).on('close', finish).resume()
  })
}
