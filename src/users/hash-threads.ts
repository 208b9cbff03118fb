import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AppError } from '../core/errors.ts'
import type { HashJob, HashResult } from './hash-thread.ts'

/** A thread holds some megabytes of memory, and people sign in seldom. */
const IDLE_MS = 30_000
const MAX_HEAP_MIB = 96

/**
 * Threads that hash and judge passwords, each one at a time. They run behind everything else, which the threads of Node's
 * own pool cannot: with two processors, two hashes would take both from the requests of others. The caller decides how
 * many run.
 */
export class HashThreads {
  readonly #idle = new Set<Worker>()
  #end: NodeJS.Timeout | undefined

  async hash(parameters: Extract<HashJob, { type: 'hash' }>['parameters']): Promise<Buffer> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hash-thread.ts answers this with a hash
    return Buffer.from((await this.#run({ type: 'hash', parameters })) as Uint8Array)
  }

  /** Whether a password is easy to guess. */
  async judge(password: string): Promise<boolean> {
    return (await this.#run({ type: 'judge', password })) === true
  }

  /** Ends the threads that have no work. */
  async close(): Promise<void> {
    const ending = [...this.#idle]
    this.#idle.clear()
    await Promise.all(ending.map((worker) => worker.terminate()))
  }

  /** Throws 503 if the system has no room for a thread. */
  async #run(job: HashJob): Promise<HashResult> {
    try {
      const [waiting] = this.#idle
      const worker = waiting ?? this.#start()
      this.#idle.delete(worker)
      worker.ref()
      worker.postMessage(job, [])
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hash-thread.ts sends nothing else
      const [result] = (await once(worker, 'message')) as [HashResult]
      this.#idle.add(worker)
      // An idle thread does not keep the process alive.
      worker.unref()
      clearTimeout(this.#end)
      this.#end = setTimeout(() => void this.close(), IDLE_MS).unref()
      return result
    } catch (cause) {
      throw new AppError('unavailable', 'no thread can begin that hashes passwords', { cause })
    }
  }

  #start(): Worker {
    const file = new URL(`./hash-thread${extname(import.meta.filename)}`, import.meta.url)
    const worker = new Worker(file, {
      name: 'hashes',
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    })
    // Whoever waits for a result hears of an error, too. A thread that has ended is not used again.
    worker.on('error', () => {})
    worker.on('exit', () => this.#idle.delete(worker))
    return worker
  }
}
