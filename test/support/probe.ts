import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'

export type Probed = { count: number; failures: number; p50: number; p999: number; longest: number }

/** Reads as another user every 20 ms while `work` runs. Times are in milliseconds. */
export async function probeBeside(url: string, token: string, work: () => Promise<void>): Promise<Probed> {
  const thread = new Worker(new URL('./probe-thread.ts', import.meta.url), {
    name: 'probe',
    workerData: { url, token, everyMs: 20 },
  })
  try {
    await once(thread, 'message')
    await work()
    const answer = once(thread, 'message')
    thread.postMessage('stop', [])
    const [{ times, failures }] = (await answer) as [{ times: number[]; failures: number }]
    times.sort((a, b) => a - b)
    const at = (share: number) => times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? 0
    return { count: times.length, failures, p50: at(0.5), p999: at(0.999), longest: at(1) }
  } finally {
    await thread.terminate()
  }
}

/** The highest memory of a process since `forgetPeak`, in MiB. */
export function peakMemory(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
