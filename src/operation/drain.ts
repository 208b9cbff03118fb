import type { Server } from 'node:http'
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Connections } from '../http/connections.ts'

const LOOK_MS = 50
/** Of a connection after the port was closed: its next request is answered, and the answer closes it. */
const IDLE_MS = 1_000
/** With workers, the first process closes the port when the last of them has. */
const PORT_CLOSES_MS = 500
const CUT_MS = 30_000
/** Nobody connects any more: no new connection for so long. Clients that never stop connecting are not waited for. */
const SETTLED_MS = 500
const MAX_SETTLING_MS = 3_000

/**
 * The end of a server without a broken answer. While it drains, /readyz is red and every answer closes its connection, but
 * the port stays open, since a load balancer needs a moment to notice. When the port is closed, the system breaks every
 * connection that the server has not accepted yet: so whoever is busy even then keeps the connection for a moment, and
 * the port is closed when nobody makes new ones.
 */
export class Drain {
  readonly #log: Logger
  readonly #connections = new Connections()
  readonly #hurried = new AbortController()
  #idleMs = 0
  /** Whether /readyz is red. */
  isDraining = false
  /** Whether answers close their connections. */
  isClosing = false

  constructor(log: Logger) {
    this.#log = log
  }

  follow(server: Server): void {
    this.#connections.follow(server)
    // Node calls it too, when the port is closed: it would break connections between two requests.
    server.closeIdleConnections = () => this.#connections.closeIdle(this.#idleMs)
  }

  /** Resolves when nobody should come any more, or when there is no more time. */
  async wait(seconds: number): Promise<void> {
    if (seconds === 0) return
    this.isDraining = true
    this.isClosing = true
    this.#idleMs = IDLE_MS
    await this.#pause(seconds * 1_000)
    this.isClosing = false
    const end = performance.now() + MAX_SETTLING_MS
    for (let left = SETTLED_MS; left > 0 && !this.#hurried.signal.aborted;) {
      await this.#pause(left)
      // What has been waiting to be accepted is, before this resolves.
      await immediate()
      const now = performance.now()
      left = Math.min(this.#connections.latestAt + SETTLED_MS, end) - now
    }
  }

  /** Ends the waiting; what is under way is still answered. */
  hurry(): void {
    this.#idleMs = 0
    this.#hurried.abort()
  }

  /** Closes the port; then connections as they fall idle, and after half a minute those that never do. */
  async close(server: Server): Promise<void> {
    this.isDraining = true
    // Whoever is told to connect anew must meet a closed port, and not one that is just being closed.
    const tell = setTimeout(() => (this.isClosing = true), PORT_CLOSES_MS)
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS)
    const cut = setTimeout(() => {
      this.#log.warn(
        `requests were cut off that took longer than ${CUT_MS / 1000} s after the port was closed`,
      )
      server.closeAllConnections()
    }, CUT_MS)
    await new Promise((resolve) => server.close(resolve))
    clearTimeout(tell)
    clearInterval(look)
    clearTimeout(cut)
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#hurried.signal }).catch(() => {})
  }
}
