import type { Server } from 'node:http'
import type { Logger } from 'pino'

const DRAIN_MS = 30_000
const LOOK_FOR_IDLE_MS = 50

/** Ends connections as they fall idle, and after half a minute those that never do. */
export function drain(server: Server, log: Logger): { release: () => void } {
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_FOR_IDLE_MS)
  const cut = setTimeout(() => {
    log.warn(`requests were cut off that took longer than ${DRAIN_MS / 1000} s after the signal to stop`)
    server.closeAllConnections()
  }, DRAIN_MS)
  return {
    release: () => {
      clearInterval(idle)
      clearTimeout(cut)
    },
  }
}
