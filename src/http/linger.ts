import type { IncomingMessage, ServerResponse } from 'node:http'

const MAX_IGNORED_BODY_BYTES = 1024 * 1024
/** As much as a state may have by default: many clients read no answer before they have sent all of it. */
const MAX_LINGER_BYTES = 512 * 1024 * 1024
const MAX_LINGER_MS = 60_000
/** A client that sends nothing for so long is not going to. */
const MAX_SILENCE_MS = 10_000

/** Whether a request was answered while so much of its body is still to come that the connection is given up for it. */
export function mustClose(request: IncomingMessage, status: number): boolean {
  if (request.complete) return false
  return (
    status === 408 ||
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
