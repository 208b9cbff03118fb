import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, Kysely, QueryResult } from 'kysely'
import type { AppError } from '../core/errors.ts'
import { kyselyOver } from './connection-driver.ts'
import { rowsOf } from './driver-values.ts'
import type { FromReadThread, ToReadThread } from './read-thread.ts'
import type { Tables } from './tables.ts'
import { databaseUnavailable } from './unavailable.ts'

/** A thread with a read-only connection to a SQLite file. It runs one transaction at a time. */
export class ReadThread implements DatabaseConnection {
  readonly db: Kysely<Tables>
  /** Resolves when the thread has ended. */
  readonly gone: Promise<void>
  readonly #worker: Worker
  #waiting: PromiseWithResolvers<readonly unknown[]>[] = []
  /** Why it answers nothing any more. */
  #reason: AppError | undefined

  constructor(path: string) {
    this.db = kyselyOver(this, 'sqlite')
    this.#worker = new Worker(new URL(`./read-thread${extname(import.meta.filename)}`, import.meta.url), {
      name: 'reads',
      workerData: path,
    })
    this.#worker.on('message', (answer: FromReadThread) => this.#receive(answer))
    this.#worker.on('error', (error) => this.#fail(hasEnded(error)))
    this.gone = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#fail(hasEnded(new Error(`exit code ${code}`)))
        resolve()
      })
    })
  }

  get isUsable(): boolean {
    return this.#reason === undefined
  }

  begin(): void {
    this.#worker.ref()
    this.#post({ type: 'begin' })
  }

  end(): void {
    this.#post({ type: 'end' })
    // An idle thread does not keep the process alive.
    this.#worker.unref()
  }

  query(text: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason)
    const waiting = Promise.withResolvers<readonly unknown[]>()
    // Throws for a value that no driver takes.
    this.#post({ type: 'query', text, values })
    this.#waiting.push(waiting)
    return waiting.promise
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: rowsOf<R>(await this.query(sql, parameters)) }
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not used')
  }

  /** Fails the queries that wait, and ends the thread after the statement that it runs. */
  stop(reason: AppError): void {
    this.#fail(reason)
    void this.#worker.terminate()
  }

  #post(message: ToReadThread): void {
    this.#worker.postMessage(message, [])
  }

  #receive(answer: FromReadThread): void {
    const waiting = this.#waiting.shift()
    if ('rows' in answer) waiting?.resolve(answer.rows)
    else
      waiting?.reject(Object.assign(new Error(answer.failure.message), { errcode: answer.failure.errcode }))
  }

  #fail(reason: AppError): void {
    this.#reason ??= reason
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(this.#reason)
  }
}

function hasEnded(cause: Error): AppError {
  return databaseUnavailable(cause, 'the thread that reads the database has ended')
}
