import { StatementSync } from 'node:sqlite'
import { Client } from 'pg'
import type { Engine } from './engines.ts'

/** What is no work of a request's own. */
const ignored = /^\s*(begin|commit|rollback|savepoint|release|pragma|set) ?/i
/** Whose token it is, which known rows may spare whatever the request is about; and what jobs look for beside requests. */
const others = [
  'from "authentication_tokens" as "token"',
  'order by "finalized_at" limit',
  'select clock_timestamp() as now',
]

/** Notes every SQL statement that this process runs. */
export class Statements {
  readonly #undo: (() => void)[]
  #noted: string[] = []

  constructor(engine: Engine) {
    const ofPostgres = (_: unknown, query: unknown) =>
      typeof query === 'string' ? query : (query as { text: string }).text
    this.#undo =
      engine === 'sqlite'
        ? ['all', 'get', 'run'].map((name) =>
            this.#watch(StatementSync.prototype, name, (statement) => (statement as StatementSync).sourceSQL),
          )
        : [this.#watch(Client.prototype, 'query', ofPostgres)]
  }

  /** The statements that ran meanwhile, sorted: in which order they ran is of no account. */
  async of(work: () => Promise<unknown>): Promise<string[]> {
    this.#noted = []
    await work()
    return this.#noted.toSorted()
  }

  stop(): void {
    for (const undo of this.#undo) undo()
  }

  #watch(target: object, name: string, textOf: (receiver: unknown, first: unknown) => string): () => void {
    const before = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor
    const note = (sql: string) => {
      if (!ignored.test(sql) && !others.some((text) => sql.includes(text))) this.#noted.push(sql)
    }
    Object.defineProperty(target, name, {
      ...before,
      value(this: unknown, ...values: unknown[]): unknown {
        note(textOf(this, values[0]))
        return Reflect.apply(before.value as () => unknown, this, values as [])
      },
    })
    return () => Object.defineProperty(target, name, before)
  }
}
