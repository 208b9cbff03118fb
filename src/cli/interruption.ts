const INTERRUPTED = 130

/** Runs work that ends after its current step when the operator interrupts it. The second Ctrl-C stops the program. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

export function exitInterrupted(): void {
  process.exitCode = INTERRUPTED
}
