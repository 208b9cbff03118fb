import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import { ReadThread } from '../../src/database/read-thread-client.ts'
import type { Engine } from './engines.ts'

/** Statements that are not part of a request's own work. */
const ignored = /^\s*(begin|commit|rollback|savepoint|release|pragma|set) ?/i
/** The look-up of the token, which a cache may skip whatever the request asks for, and queries of background jobs. */
const others = [
  'from "authentication_tokens" as "token"',
  'order by "finalized_at" limit',
  'select clock_timestamp() as now',
]

/** Records every SQL statement that this process runs. */
export class Statements {
  readonly #undo: (() => void)[]
  #noted: string[] = []
  #found: string[] = []

  constructor(engine: Engine) {
    const ofPostgres = (_: unknown, query: unknown) =>
      typeof query === 'string' ? query : (query as { text: string }).text
    this.#undo =
      engine === 'sqlite'
        ? [
            ...['all', 'get', 'run'].map((name) =>
              this.#watch(
                StatementSync.prototype,
                name,
                (statement) => (statement as StatementSync).sourceSQL,
              ),
            ),
            // A slow read runs its statements in a thread.
            this.#watch(ReadThread.prototype, 'query', (_, text) => text as string),
          ]
        : [this.#watch(Client.prototype, 'query', ofPostgres)]
  }

  /** The statements that `work` ran, sorted, because their order does not matter. */
  async of(work: () => Promise<unknown>): Promise<string[]> {
    this.#noted = []
    await work()
    return this.#noted.toSorted()
  }

  /** The statements that found rows and made objects of them, sorted. On SQLite only. */
  async foundBy(work: () => Promise<unknown>): Promise<string[]> {
    this.#found = []
    await work()
    return this.#found.toSorted()
  }

  stop(): void {
    for (const undo of this.#undo) undo()
  }

  #watch(target: object, name: string, textOf: (receiver: unknown, first: unknown) => string): () => void {
    const before = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor
    const note = (sql: string, answer: unknown) => {
      if (ignored.test(sql) || others.some((text) => sql.includes(text))) return
      this.#noted.push(sql)
      if (Array.isArray(answer) ? answer.length > 0 : name === 'get' && answer !== undefined)
        this.#found.push(sql)
    }
    Object.defineProperty(target, name, {
      ...before,
      value(this: unknown, ...values: unknown[]): unknown {
        const sql = textOf(this, values[0])
        let answer: unknown
        try {
          answer = Reflect.apply(before.value as () => unknown, this, values as [])
          return answer
        } finally {
          note(sql, answer)
        }
      },
    })
    return () => Object.defineProperty(target, name, before)
  }
}

/** The statement of several reads, see src/database/read-statement.ts. */
export const TOGETHER = /^select given\.place::integer, /
