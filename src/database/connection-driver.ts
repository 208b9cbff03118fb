import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type DatabaseConnection,
  type Driver,
} from 'kysely'
import type { Engine } from './portable.ts'
import type { Tables } from './tables.ts'

/** Kysely assumes that SQLite cannot roll back DDL. It can, so migrations run in one transaction. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** A Kysely over a single connection. The caller begins and commits transactions, except in migrations. */
export function kyselyOver(connection: DatabaseConnection, engine: Engine): Kysely<Tables> {
  const run = async (text: string) => {
    await connection.executeQuery(CompiledQuery.raw(text))
  }
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: () => run(engine === 'sqlite' ? 'begin immediate' : 'begin'),
    commitTransaction: () => run('commit'),
    // This fails if the engine has already rolled back; the original error is more useful.
    rollbackTransaction: () => run('rollback').catch(() => {}),
    destroy: async () => {},
  }
  return new Kysely({
    dialect:
      engine === 'sqlite'
        ? {
            createAdapter: () => new TransactionalSqliteAdapter(),
            createDriver: () => driver,
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createAdapter: () => new PostgresAdapter(),
            createDriver: () => driver,
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          },
  })
}
