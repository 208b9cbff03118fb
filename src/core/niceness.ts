import { getPriority, setPriority } from 'node:os'

const NICENESS = 5

/**
 * Lets the main thread run first if there are few processors. To be called in another thread: on Linux the niceness is that
 * of the calling thread, elsewhere that of the whole process. A process that runs with a lower priority already may not
 * raise it. The thread works without this, so failures do not matter.
 */
export function stepBack(): void {
  if (process.platform !== 'linux') return
  try {
    if (getPriority() < NICENESS) setPriority(NICENESS)
  } catch {
    // The system forbids it.
  }
}
