import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** For the first request on a new connection. */
const UNUSED_MS = 1_000

type Connection = {
  /** The latest. */
  request?: IncomingMessage
  response?: ServerResponse
  /** Since when nothing has come, and how much had come before. */
  idle?: { since: number; bytesRead: number }
}

/** The connections of a server: whom they wait for, and which of them may be closed. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  /** When the latest one was made. */
  latestAt = 0

  follow(server: Server): void {
    server.on('connection', (socket: Socket) => {
      this.latestAt = performance.now()
      this.#connections.set(socket, {})
      socket.once('close', () => this.#connections.delete(socket))
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#connections.get(request.socket)
      if (connection === undefined) return
      connection.request = request
      connection.response = response
    })
    // A connection was silent for the server's timeout. An answer that takes the server itself as long is not cut off.
    server.on('timeout', (socket: Socket) => {
      if (!this.#isServersTurn(socket)) socket.destroy()
    })
  }

  /** Closes those on which nothing is under way, and nothing came for so long as far as repeated calls have seen. */
  closeIdle(ms: number): void {
    const now = performance.now()
    for (const [socket, connection] of this.#connections) {
      const { bytesRead } = socket
      if (connection.response?.writableFinished === false) delete connection.idle
      else if (connection.idle?.bytesRead !== bytesRead) connection.idle = { since: now, bytesRead }
      else if (now - connection.idle.since >= (bytesRead === 0 ? UNUSED_MS : ms)) socket.destroy()
    }
  }

  /** Whether the client has sent all of its request, and taken all that was sent to them. */
  #isServersTurn(socket: Socket): boolean {
    const { request, response } = this.#connections.get(socket) ?? {}
    if (request === undefined || response?.writableFinished !== false) return false
    return (request.complete || request.readableLength > 0) && socket.writableLength === 0
  }
}
