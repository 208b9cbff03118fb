import { existing } from '../core/existing.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of a connection may wait for an earlier answer. With more, the connection is closed. */
export const MAX_WAITING_REQUESTS = 100

/** Whether earlier answers on the connection are still unsent. Node assigns the socket only after them. */
export function mustWait(response: ServerResponse): boolean {
  return response.socket === null
}

/** The requests that wait for an earlier answer of their connection. */
export class Pipelines {
  /** How many wait by connection; a connection without any has no entry. */
  readonly #waiting = new WeakMap<Socket, number>()

  /**
   * Waits until all earlier requests of the connection are answered. Returns false if the connection has ended. Node
   * starts pipelined requests at once, so without this all of their answers would be in memory together.
   */
  async turnOf(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { socket } = request
    const others = this.#waiting.get(socket) ?? 0
    if (others >= MAX_WAITING_REQUESTS) socket.destroy()
    if (socket.destroyed) return false
    this.#waiting.set(socket, others + 1)
    const hasTurn = await new Promise<boolean>((resolve) => {
      response.once('socket', () => resolve(true))
      request.once('close', () => resolve(false))
    })
    const left = existing(this.#waiting.get(socket)) - 1
    if (left === 0) this.#waiting.delete(socket)
    else this.#waiting.set(socket, left)
    return hasTurn
  }
}
