import { getPriority, setPriority } from 'node:os'

const NICENESS = 5
/** Behind answers, and also behind what others wait for in threads. With one busy processor it still gets a tenth of it. */
export const HASHING = 10

/**
 * Lets the main thread run first if there are few processors. To be called in another thread: on Linux the niceness is that
 * of the calling thread, elsewhere that of the whole process. A process that runs with a lower priority already may not
 * raise it. The thread works without this, so failures do not matter.
 */
export function stepBack(niceness = NICENESS): void {
  if (process.platform !== 'linux') return
  try {
    if (getPriority() < niceness) setPriority(niceness)
  } catch {
    // The system forbids it.
  }
}
