import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Kysely } from 'kysely'
import { kyselyOver } from './connection-driver.ts'
import { rowsOf } from './driver-values.ts'
import type { FromReadThread, ToReadThread } from './read-thread.ts'
import type { Tables } from './tables.ts'

/** A thread could not begin or has ended, or was stopped. The message is for the caller. */
export class ReadThreadError extends Error {}

const HAS_ENDED = 'a thread that reads the database has ended'

/** A thread with a read-only connection to a SQLite file. It runs one transaction at a time. */
export class ReadThread {
  readonly db: Kysely<Tables>
  /** Resolves when the thread has ended. */
  readonly gone: Promise<void>
  readonly #worker: Worker
  #waiting: PromiseWithResolvers<readonly unknown[]>[] = []
  /** Why it answers nothing any more. */
  #reason: ReadThreadError | undefined

  /** Throws ReadThreadError if the system has no room for a thread. */
  constructor(path: string) {
    this.db = kyselyOver(
      async ({ sql, parameters }) => ({ rows: rowsOf(await this.query(sql, parameters)) }),
      'sqlite',
    )
    this.#worker = startWorker(path)
    this.#worker.on('message', (answer: FromReadThread) => this.#receive(answer))
    this.#worker.on('error', (cause) => this.#fail(new ReadThreadError(HAS_ENDED, { cause })))
    this.gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#fail(new ReadThreadError(HAS_ENDED, { cause: new Error(`exit code ${code}`) }))
        resolve()
      })
    })
  }

  get isUsable(): boolean {
    return this.#reason === undefined
  }

  /** The first query begins a transaction. */
  begin(): void {
    this.#worker.ref()
  }

  /** Resolves when the thread runs nothing any more, with whether it can begin again. */
  async end(): Promise<boolean> {
    try {
      await this.#ask({ type: 'end' })
      // An idle thread does not keep the process alive.
      this.#worker.unref()
      return true
    } catch {
      await this.gone
      return false
    }
  }

  query(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#ask({ type: 'query', text, values })
  }

  /** Fails what waits for an answer, and ends the thread after the statement that it runs. */
  stop(reason: string): void {
    this.#fail(new ReadThreadError(reason))
    this.#worker.ref()
    void this.#worker.terminate()
  }

  async #ask(message: ToReadThread): Promise<readonly unknown[]> {
    if (this.#reason !== undefined) throw this.#reason
    const waiting = Promise.withResolvers<readonly unknown[]>()
    // Throws for a value that no driver takes.
    this.#worker.postMessage(message, [])
    this.#waiting.push(waiting)
    return waiting.promise
  }

  #receive(answer: FromReadThread): void {
    const waiting = this.#waiting.shift()
    if ('rows' in answer) waiting?.resolve(answer.rows)
    else
      waiting?.reject(Object.assign(new Error(answer.failure.message), { errcode: answer.failure.errcode }))
  }

  #fail(reason: ReadThreadError): void {
    this.#reason ??= reason
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(this.#reason)
  }
}

function startWorker(path: string): Worker {
  const file = new URL(`./read-thread${extname(import.meta.filename)}`, import.meta.url)
  try {
    return new Worker(file, { name: 'reads', workerData: path })
  } catch (cause) {
    throw new ReadThreadError('no thread can begin', { cause })
  }
}
