import { CompiledQuery, type Kysely } from 'kysely'
import type { Transaction } from './database.ts'
import type { Engine } from './portable.ts'
import type { PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

/** A transaction on a bare connection, for changes of tables too. */
export function inBareTransaction<T>(
  db: Kysely<Tables>,
  engine: Engine,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction().execute((transaction) => work(over(transaction, engine)))
}

function over(db: Kysely<Tables>, engine: Engine): Transaction {
  const all = async <Values extends Record<string, unknown>, Row>(
    query: PreparedQuery<Values, Row>,
    values: Values,
  ): Promise<Row[]> => {
    const compiled = CompiledQuery.raw(query.sql(engine), query.parameters(engine, values))
    return (await db.executeQuery<Row>(compiled)).rows
  }
  return {
    engine,
    mode: 'write',
    db,
    all,
    first: async (query, values) => (await all(query, values))[0],
    repeat: async (query, values) => void (await all(query, values)),
  }
}
