/** Slices of long work that wait for a turn of the event loop, in order of arrival. */
const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop that no other slice of long work uses. Long work is cut into slices of some
 * milliseconds and awaits this before each one. So a request waits for at most one slice, however many answers and
 * downloads are made at the same time.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  const resolve = waiting.shift()
  if (waiting.length > 0) setImmediate(next)
  resolve?.()
}
