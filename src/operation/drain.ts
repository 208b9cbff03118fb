import type { Server } from 'node:http'
import { setImmediate as immediate, setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Connections } from '../http/connections.ts'
import { logFull } from './connection-limit.ts'

/** A load balancer asks more often than that. */
const UNWATCHED_MS = 60_000
const LOOK_MS = 50
/** How long an idle connection stays open after the port closed. Its next request is answered, which closes it. */
const IDLE_MS = 1_000
/** With several workers, the primary process closes the port only after the last worker did. */
const PORT_CLOSES_MS = 500
const CUT_MS = 30_000
/** The port may close after this long without a new connection. The wait has a limit, for clients that never stop. */
const SETTLED_MS = 500
const MAX_SETTLING_MS = 3_000

/**
 * Stops a server without breaking an answer. While it drains, /readyz is red and each answer closes its connection, but
 * the port stays open, because a load balancer needs a moment to notice. Closing the port breaks connections that are
 * not yet accepted. So answers keep connections open at the end, and the port closes once no new ones arrive.
 */
export class Drain {
  readonly #log: Logger
  readonly connections: Connections
  readonly #hurried = new AbortController()
  #idleMs = 0
  /** Whether /readyz reports that this server is stopping. */
  isDraining = false
  /** Whether answers close their connections. */
  isClosing = false
  /** Whether a load balancer has been told, by /readyz. */
  isKnown = false

  constructor(log: Logger, maxConnections: number) {
    this.#log = log
    this.connections = new Connections(maxConnections, logFull(log, maxConnections))
  }

  follow(server: Server): void {
    this.connections.follow(server)
    // Node calls this when the port closes, too. Its version would break connections between two requests.
    server.closeIdleConnections = () => this.connections.closeIdle(this.#idleMs)
  }

  /**
   * Resolves when the time is over and no new connections arrive; or earlier, if nobody is connected, nobody came for half of
   * the time, and no load balancer is there that does not know.
   */
  async wait(seconds: number): Promise<void> {
    if (seconds === 0) return
    this.isDraining = true
    this.isClosing = true
    this.#idleMs = IDLE_MS
    const begunAt = performance.now()
    const quietMs = seconds * 500
    for (let left = seconds * 1_000; left > 0 && !this.#hurried.signal.aborted;) {
      await this.#pause(Math.min(left, LOOK_MS))
      const now = performance.now()
      const { count, latestAt } = this.connections
      const isQuiet = count === 0 && now - Math.max(begunAt, latestAt) > quietMs
      if (isQuiet && (this.isKnown || begunAt - latestAt > UNWATCHED_MS || latestAt === 0)) break
      left = begunAt + seconds * 1_000 - now
    }
    this.isClosing = false
    const end = performance.now() + MAX_SETTLING_MS
    for (let left = SETTLED_MS; left > 0 && !this.#hurried.signal.aborted;) {
      await this.#pause(left)
      // Let the server accept connections that are already waiting.
      await immediate()
      const now = performance.now()
      left = Math.min(this.connections.latestAt + SETTLED_MS, end) - now
    }
  }

  /** Ends the wait at once. Running requests are still answered. */
  hurry(): void {
    this.#idleMs = 0
    this.#hurried.abort()
  }

  /** Closes the port, then each connection as it becomes idle. After 30 seconds it cuts the rest. */
  async close(server: Server): Promise<void> {
    this.isDraining = true
    // A client that is told to reconnect must find the port closed, not about to close.
    const tell = setTimeout(() => (this.isClosing = true), PORT_CLOSES_MS)
    const look = setInterval(() => server.closeIdleConnections(), LOOK_MS)
    const cut = setTimeout(() => {
      this.#log.warn(
        `requests were cut off that took longer than ${CUT_MS / 1000} s after the port was closed`,
      )
      this.connections.endAll()
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
