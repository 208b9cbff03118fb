const PARTS = 10

/**
 * Calls `fire` after so long, and gives what calls it off. It counts the time in parts: after a stall of the event loop
 * timers come before what has arrived meanwhile, and an answer must not be taken for late only because nobody read it.
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
