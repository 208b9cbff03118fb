import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that may wait while an earlier one is answered. A client that sends more is hung up on. */
export const MAX_WAITING_REQUESTS = 100

/** How many requests of a connection wait now; a connection without any is not in it. */
const waiting = new WeakMap<Socket, number>()

/** Whether the answers to earlier requests of the connection have not left yet: Node gives it the socket after them. */
export function mustWait(response: ServerResponse): boolean {
  return response.socket === null
}

/**
 * Resolves when every earlier request of the connection is answered: true, or false when the connection has ended.
 * Node begins all requests that a client has sent without waiting for answers; their answers would all be in memory.
 */
export async function turnOf(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const { socket } = request
  const others = waiting.get(socket) ?? 0
  if (others >= MAX_WAITING_REQUESTS) socket.destroy()
  if (socket.destroyed) return false
  waiting.set(socket, others + 1)
  const hasTurn = await new Promise<boolean>((resolve) => {
    response.once('socket', () => resolve(true))
    request.once('close', () => resolve(false))
  })
  const left = (waiting.get(socket) as number) - 1
  if (left === 0) waiting.delete(socket)
  else waiting.set(socket, left)
  return hasTurn
}
