import { CompiledQuery, type Kysely } from 'kysely'
import { BeforeCommit } from './before-commit.ts'
import type { Transaction, Work } from './database.ts'
import type { Engine } from './portable.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { Tables } from './tables.ts'

/** A transaction on a bare connection, for changes of tables too. */
export async function inBareTransaction<T>(db: Kysely<Tables>, engine: Engine, work: Work<T>): Promise<T> {
  const before = new BeforeCommit()
  const afterCommit: (() => void)[] = []
  const value = await db.transaction().execute(async (transaction) => {
    const all = async <V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row[]> => {
      const compiled = CompiledQuery.raw(query.sql(engine), query.parameters(engine, values))
      return (await transaction.executeQuery<Row>(compiled)).rows
    }
    const tx: Transaction = {
      engine,
      mode: 'write',
      db: transaction,
      all,
      first: async (query, values) => (await all(query, values))[0],
      repeat: async (query, values) => void (await all(query, values)),
      send: async (query, values) => void (await all(query, values)),
      beforeCommit: (last, items) => before.add(last, items),
      afterCommit: (act) => void afterCommit.push(act),
    }
    const done = await work(tx)
    await before.run(tx)
    return done
  })
  for (const act of afterCommit) act()
  return value
}
