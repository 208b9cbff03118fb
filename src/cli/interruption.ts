import { note } from './output.ts'

const INTERRUPTED = 130

/**
 * Runs work that ends after its current step when the operator interrupts it. The second Ctrl-C stops the program.
 *
 * @param remark printed if the interruption made the work fail. Then the result is undefined.
 */
export async function untilInterrupted<T>(
  remark: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    if (!controller.signal.aborted) throw error
    endInterrupted(remark)
    return undefined
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

export function endInterrupted(remark: string): void {
  note(remark)
  process.exitCode = INTERRUPTED
}
