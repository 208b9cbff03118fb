import { existing } from '../core/existing.ts'
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { OperatorError } from '../core/operator-error.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A worker that served this long counts as healthy: the restart delay is reset. */
const HEALTHY_MS = 60_000

/** The worker processes. They share the address, and one that exits is replaced. */
export class Workers {
  readonly #log: Logger
  readonly #stopMs: number
  #pause = FIRST_PAUSE_MS
  #isStopping = false

  /** @param stopMs time after which a worker that has not stopped is killed */
  constructor(log: Logger, stopMs: number) {
    this.#log = log
    this.#stopMs = stopMs
  }

  /** Resolves with the port when all workers serve. Throws if one exits earlier. */
  async start(count: number): Promise<number> {
    const ports = await Promise.all(Array.from({ length: count }, () => this.#startFirst()))
    return existing(ports[0])
  }

  /** Each worker answers its running requests; one that takes too long is killed. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.#isStopping = true
    await Promise.all(
      running().map(async (worker) => {
        const late = setTimeout(() => worker.process.kill('SIGKILL'), this.#stopMs)
        worker.process.kill(signal)
        await once(worker, 'exit')
        clearTimeout(late)
      }),
    )
  }

  signal(signal: NodeJS.Signals): void {
    for (const worker of running()) worker.process.kill(signal)
  }

  #startFirst(): Promise<number> {
    return new Promise((resolve, reject) => {
      const worker = fork()
      const failed = (code: number) => reject(new OperatorError(`a worker ended before it served (${code})`))
      worker.once('exit', failed)
      worker.once('listening', ({ port }) => {
        worker.off('exit', failed)
        this.#replaceWhenItFalls(worker)
        resolve(port)
      })
    })
  }

  #replaceWhenItFalls(worker: Worker): void {
    const began = performance.now()
    worker.once('exit', (code, signal) => {
      if (this.#isStopping) return
      if (performance.now() - began > HEALTHY_MS) this.#pause = FIRST_PAUSE_MS
      this.#log.error(`a worker ended (${signal ?? code}); another starts in ${this.#pause} ms`)
      setTimeout(() => {
        if (!this.#isStopping) this.#replaceWhenItFalls(fork())
      }, this.#pause)
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    })
  }
}

function running(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

function fork(): Worker {
  const cache = getCompileCacheDir()
  // With the cache set before its first file, a worker never loads the code for type stripping, which saves 10 MB.
  return cluster.fork(cache === undefined ? {} : { NODE_COMPILE_CACHE: dirname(cache) })
}
