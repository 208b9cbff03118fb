// Loaded into the measured server (node --import). Reports what only the process itself can measure.
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { answerQuestions } from './child.ts'

/** Microseconds of CPU time since the start, and current and highest memory in MB. */
export type Usage = { cpu: number; rss: number; peakRss: number }

/** Delay of the event loop in milliseconds. */
export type Delay = { p99: number; p999: number; max: number }

const RESOLUTION_MS = 1

let delays: ReturnType<typeof monitorEventLoopDelay> | undefined

answerQuestions({
  usage: async (): Promise<Usage> => {
    const { user, system } = process.cpuUsage()
    return { cpu: user + system, rss: process.memoryUsage.rss() / 1e6, peakRss: peakRss() }
  },
  startDelay: async () => {
    delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    delays.enable()
  },
  delay: async (): Promise<Delay> => {
    // A recorded value is the time between two ticks of a timer, so it includes the timer's period.
    const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
    delays?.disable()
    return {
      p99: late(delays?.percentile(99) ?? 0),
      p999: late(delays?.percentile(99.9) ?? 0),
      max: late(delays?.max ?? 0),
    }
  },
})
// The open channel must not keep the server running.
process.channel?.unref()

function peakRss(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1e3
  } catch {
    return process.resourceUsage().maxRSS / 1e3
  }
}
