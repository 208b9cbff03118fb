import { hash } from 'node:crypto'
import type { QueryConfig, QueryResult } from 'pg'
import type { PreparedQuery, Values } from './prepared.ts'

type Query = PreparedQuery<never, unknown>

type Run = {
  readonly values: Values
  readonly alone: () => QueryConfig
  readonly resolve: (result: QueryResult) => void
  readonly reject: (error: unknown) => void
}

const names = new WeakMap<Query, string>()

/** PostgreSQL plans a named statement once per connection. */
function statementOf(query: Query, values: unknown[]): QueryConfig {
  const text = query.sql('postgres')
  let name = names.get(query)
  if (name === undefined) {
    name = hash('md5', text)
    names.set(query, name)
  }
  return { name, text, values }
}

export function oneStatement<V extends Values>(query: PreparedQuery<V, unknown>, values: V): QueryConfig {
  return statementOf(query, query.parameters('postgres', values))
}

/**
 * Statements of one connection that PostgreSQL can run as one (PreparedQuery.many). They wait until all that can go on
 * without the database has done so, because the writes beside each other in a transaction send theirs by then. One that
 * waits may overtake an unlike one that waits, too, but nothing else.
 */
export class AlikeStatements {
  readonly #send: (statement: QueryConfig) => Promise<QueryResult>
  readonly #waiting = new Map<Query, Run[]>()

  constructor(send: (statement: QueryConfig) => Promise<QueryResult>) {
    this.#send = send
  }

  add<V extends Values>(query: PreparedQuery<V, unknown>, values: V): Promise<QueryResult> {
    // Here, so that a mistake in it reaches the caller.
    query.many?.sql('postgres')
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) process.nextTick(() => this.flush())
      const run = { values, alone: () => oneStatement(query, values), resolve, reject }
      const alike = this.#waiting.get(query)
      if (alike === undefined) this.#waiting.set(query, [run])
      else alike.push(run)
    })
  }

  /** To be called before any other statement is sent, which may need what these do. */
  flush(): void {
    for (const [query, runs] of this.#waiting) void this.#run(query, runs)
    this.#waiting.clear()
  }

  async #run(query: Query, runs: readonly Run[]): Promise<void> {
    const { many } = query
    try {
      if (many !== undefined && runs.length > 1) {
        const values = runs.map((run) => run.values)
        const result = await this.#send(statementOf(many, many.parameterLists('postgres', values)))
        for (const { values, resolve } of runs) resolve(ofOne(result, values))
      } else {
        await Promise.all(runs.map(async ({ alone, resolve }) => resolve(await this.#send(alone()))))
      }
    } catch (error) {
      for (const { reject } of runs) reject(error)
    }
  }
}

/** What one of them would have returned. Rows belong to the one that has their id. */
function ofOne(result: QueryResult<{ id?: unknown }>, { id }: Values): QueryResult {
  if (result.fields.length === 0) return result
  if (id === undefined)
    throw new Error('rows of one statement for several are handed back by the parameter `id`')
  const rows = result.rows.filter((row) => row.id === id)
  return { ...result, rows, rowCount: rows.length }
}
