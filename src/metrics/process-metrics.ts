import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { maxOpenFiles } from '../core/open-files.ts'
import { counter, gauge, type Family } from './exposition.ts'

const RESOLUTION_MS = 10
const NANOSECONDS = 1e9

/** This process, under the names that Prometheus' client libraries use. */
export class ProcessMetrics {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  constructor() {
    this.#delays.enable()
  }

  /** The delays of the event loop are those since the call before. */
  families(): readonly Family[] {
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed, external } = process.memoryUsage()
    return [
      counter('process_cpu_seconds_total', 'Processor time.', (user + system) / 1e6),
      gauge(
        'process_start_time_seconds',
        'When the process started, in seconds since 1970.',
        performance.timeOrigin / 1_000,
      ),
      gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
      gauge('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', heapUsed),
      gauge(
        'nodejs_external_memory_bytes',
        'Memory that JavaScript objects hold outside of the heap.',
        external,
      ),
      ...descriptors(),
      ...this.#lags(),
    ]
  }

  #lags(): readonly Family[] {
    const delays = this.#delays
    // Each delay includes the pause between two samples.
    const seconds = (nanoseconds: number) =>
      Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000) || 0
    const lags = [
      ['p50', 'median', delays.percentile(50)],
      ['p99', '99th percentile', delays.percentile(99)],
      ['max', 'longest', delays.max],
    ] as const
    delays.reset()
    return lags.map(([name, words, nanoseconds]) => {
      const help = `Delay of the event loop since the scrape before: ${words}.`
      return gauge(`nodejs_eventloop_lag_${name}_seconds`, help, seconds(nanoseconds))
    })
  }
}

/** None where the system does not tell. */
function descriptors(): readonly Family[] {
  const limit = maxOpenFiles()
  if (limit === undefined) return []
  return [
    gauge('process_open_fds', 'Open file descriptors.', readdirSync('/proc/self/fd').length),
    gauge('process_max_fds', 'File descriptors that may be open at once.', limit),
  ]
}
