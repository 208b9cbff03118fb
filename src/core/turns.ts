/** Slices of long work that wait for a turn of the event loop, the longest waiting first. */
const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop that no other slice of long work has. Whoever reads or makes much at a time does it
 * in slices of some milliseconds and awaits this before each: so requests wait for one slice at most, however many
 * answers and downloads are made at the same time.
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
