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
  /** For each connection that ever had one: what to call for each of them when the connection ends. */
  readonly #waiting = new WeakMap<Socket, Set<() => void>>()

  /**
   * Waits until all earlier requests of the connection are answered. Returns false if the connection has ended. Node
   * starts pipelined requests at once, so without this all of their answers would be in memory together.
   */
  async turnOf({ socket }: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const waiting = this.#waiting.get(socket) ?? this.#follow(socket)
    if (waiting.size >= MAX_WAITING_REQUESTS) socket.destroy()
    if (socket.destroyed) return false
    return new Promise((resolve) => {
      const giveUp = () => resolve(false)
      waiting.add(giveUp)
      response.once('socket', () => {
        waiting.delete(giveUp)
        resolve(true)
      })
    })
  }

  /** Listens to the connection, because a request without a body tells nobody that it has ended. */
  #follow(socket: Socket): Set<() => void> {
    const waiting = new Set<() => void>()
    this.#waiting.set(socket, waiting)
    socket.once('close', () => {
      for (const giveUp of waiting) giveUp()
    })
    return waiting
  }
}
