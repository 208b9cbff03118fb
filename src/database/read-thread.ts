import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { sqliteCodeOf } from '../core/error-fields.ts'
import { stepBack } from '../core/niceness.ts'
import { inputsOf } from './driver-values.ts'

/** Runs in a thread of ReadThread. A statement on many rows then does not stop the thread that answers requests. */

export type ToReadThread =
  | { readonly type: 'query'; readonly text: string; readonly values: readonly unknown[] }
  | { readonly type: 'end' }

/** The answer to a query or an end, in their order. A copy of an error would lose SQLite's code. */
export type FromReadThread =
  | { readonly rows: readonly unknown[] }
  | { readonly failure: { readonly message: string; readonly errcode: number | undefined } }

const MAX_CACHED_STATEMENTS = 500
const CACHE_KIB = 8_000
/** How long a statement waits for another process that recovers the log. */
const MAX_BUSY_WAIT_MS = 10_000

class ReadConnection {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  /** Why the transaction has ended early. Its later queries must fail: they would see another snapshot. */
  #lost: { readonly reason: unknown } | undefined

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: MAX_BUSY_WAIT_MS })
    this.#database.exec(`pragma cache_size = -${CACHE_KIB}`)
  }

  end(): void {
    if (this.#database.isTransaction) this.#database.exec('commit')
    this.#lost = undefined
  }

  answer(text: string, values: readonly unknown[]): FromReadThread {
    try {
      if (this.#lost !== undefined) throw this.#lost.reason
      if (!this.#database.isTransaction) this.#database.exec('begin')
      return { rows: this.#statement(text).all(...inputsOf(values)) }
    } catch (error) {
      if (!this.#database.isTransaction) this.#lost ??= { reason: error }
      const message = error instanceof Error ? error.message : String(error)
      return { failure: { message, errcode: sqliteCodeOf(error) } }
    }
  }

  #statement(text: string): StatementSync {
    const known = this.#statements.get(text)
    if (known !== undefined) return known
    if (this.#statements.size >= MAX_CACHED_STATEMENTS) this.#statements.clear()
    const statement = this.#database.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }
}

if (parentPort === null) throw new Error('This module runs in a worker thread only')
const port = parentPort
stepBack()
const connection = new ReadConnection(String(workerData))

port.on('message', (message: ToReadThread) => {
  switch (message.type) {
    case 'query':
      port.postMessage(connection.answer(message.text, message.values))
      break
    case 'end':
      connection.end()
      port.postMessage({ rows: [] } satisfies FromReadThread)
  }
})
