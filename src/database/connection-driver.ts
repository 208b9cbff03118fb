import {
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

/** A Kysely over one given connection. When its transactions begin and end is the caller's business, but for migrations. */
export function kyselyOver(connection: DatabaseConnection, engine: Engine): Kysely<Tables> {
  const run = async (text: string) => {
    await connection.executeQuery({
      sql: text,
      parameters: [],
      query: undefined as never,
      queryId: undefined as never,
    })
  }
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: () => run(engine === 'sqlite' ? 'begin immediate' : 'begin'),
    commitTransaction: () => run('commit'),
    rollbackTransaction: () => run('rollback'),
    destroy: async () => {},
  }
  return new Kysely({
    dialect:
      engine === 'sqlite'
        ? {
            createAdapter: () => new SqliteAdapter(),
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
