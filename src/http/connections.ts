import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../core/networks.ts'

/** Time limit for the first request on a new connection. */
const UNUSED_MS = 1_000
/** The part of all connections that is closed to make room. It is not one only, because choosing looks at all of them. */
const CLOSED_AT_ONCE = 0.01

type Connection = {
  /** When it was made, or its latest request began. */
  usedAt: number
  /** The latest request. */
  request?: IncomingMessage
  response?: ServerResponse
  /** When data last arrived, and how many bytes had arrived by then. */
  idle?: { since: number; bytesRead: number }
}

/** The connections of a server: who is waiting for whom, and which ones may be closed. */
export class Connections {
  readonly #connections = new Map<Socket, Connection>()
  /** TLS connections before the end of their handshake, by the client's address. */
  readonly #handshakes = new Map<string, Socket>()
  /** When the newest connection was made. */
  latestAt = 0
  readonly #most: number
  readonly #onFull: (address: string, connections: number) => void

  /** @param onFull is told which address has so many connections that some of them are closed to make room */
  constructor(most: number, onFull: (address: string, connections: number) => void) {
    this.#most = most
    this.#onFull = onFull
  }

  get count(): number {
    return this.#connections.size
  }

  /** The answer to the latest request of a connection. */
  latestOn(socket: Socket): ServerResponse | undefined {
    return this.#connections.get(socket)?.response
  }

  follow(server: Server): void {
    const isSecure = 'setSecureContext' in server
    server.on('connection', (socket: Socket) => {
      this.latestAt = performance.now()
      if (this.#connections.size >= this.#most) this.#makeRoom()
      if (this.#connections.size >= this.#most) {
        socket.destroy()
        return
      }
      this.#add(socket)
      if (!isSecure) return
      const address = addressOf(socket)
      this.#handshakes.set(address, socket)
      socket.once('close', () => this.#endHandshake(address, socket))
    })
    // Requests over TLS have another socket than the one that was accepted.
    server.on('secureConnection', (socket: Socket) => {
      const address = addressOf(socket)
      const accepted = this.#handshakes.get(address)
      if (accepted === undefined) return
      this.#endHandshake(address, accepted)
      this.#add(socket)
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#connections.get(request.socket)
      if (connection === undefined) return
      connection.request = request
      connection.response = response
      connection.usedAt = performance.now()
    })
    // The timeout is for silent clients. A connection that waits for this server's answer is not closed.
    server.on('timeout', (socket: Socket) => {
      if (!this.#isServersTurn(socket)) this.#end(socket)
    })
  }

  #add(socket: Socket): void {
    this.#connections.set(socket, { usedAt: performance.now() })
    socket.once('close', () => this.#connections.delete(socket))
  }

  /**
   * Closes some connections of the address that has the most, so that no other address goes without. First those without
   * a running request, unused for the longest time. If there are none, those that wait for their client.
   */
  #makeRoom(): void {
    const byAddress = Map.groupBy(this.#connections, ([socket]) => networkOf(socket.remoteAddress ?? ''))
    const [[address, most] = ['', []]] = [...byAddress].toSorted(
      ([, one], [, other]) => other.length - one.length,
    )
    this.#onFull(address, most.length)
    const idle = most.filter(([, { response }]) => response?.writableFinished !== false)
    const closable = idle.length > 0 ? idle : most.filter(([socket]) => !this.#isServersTurn(socket))
    const count = Math.ceil(this.#most * CLOSED_AT_ONCE)
    for (const [socket] of closable.toSorted(([, a], [, b]) => a.usedAt - b.usedAt).slice(0, count)) {
      this.#end(socket)
      this.#connections.delete(socket)
    }
  }

  #endHandshake(address: string, accepted: Socket): void {
    if (this.#handshakes.get(address) !== accepted) return
    this.#handshakes.delete(address)
    this.#connections.delete(accepted)
  }

  /** Closes connections without a running request if, over repeated calls, no byte has arrived for `ms`. */
  closeIdle(ms: number): void {
    const now = performance.now()
    for (const [socket, connection] of this.#connections) {
      const { bytesRead } = socket
      if (connection.response?.writableFinished === false) delete connection.idle
      else if (connection.idle?.bytesRead !== bytesRead) connection.idle = { since: now, bytesRead }
      else if (now - connection.idle.since >= (bytesRead === 0 ? UNUSED_MS : ms)) socket.destroy()
    }
  }

  /** Ends all connections. `Server.closeAllConnections` leaves those out that are still in their TLS handshake. */
  endAll(): void {
    for (const socket of this.#connections.keys()) this.#end(socket)
  }

  #end(socket: Socket): void {
    if (this.latestOn(socket)?.writableFinished === false) cutOff(socket)
    else socket.destroy()
  }

  /** Whether the client has sent its whole request and received everything sent so far. */
  #isServersTurn(socket: Socket): boolean {
    const { request, response } = this.#connections.get(socket) ?? {}
    if (request === undefined || response?.writableFinished !== false) return false
    return (request.complete || request.readableLength > 0) && socket.writableLength === 0
  }
}

/**
 * Ends a connection in the middle of an answer. Before HTTP/1.1, which older versions of nginx speak to servers, the end of the
 * connection is the end of an answer without a length, so a reset has to say that a part is missing. With TLS its own last
 * message is missing, which says the same.
 */
export function cutOff(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
