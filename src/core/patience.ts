const PARTS = 10

/**
 * Calls `fire` after `ms`; returns a function that cancels it. It counts in parts, because after a stall of the event
 * loop timers run before arrived data is read. A single timer would then report an answer as late that had arrived.
 */
export function afterPatience(ms: number, fire: () => void): () => void {
  let parts = 0
  const timer = setInterval(() => {
    parts += 1
    if (parts < PARTS) return
    clearInterval(timer)
    fire()
  }, ms / PARTS)
  return () => clearInterval(timer)
}
