import {
  CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type DatabaseConnection,
  type DatabaseMetadataOptions,
  type Dialect,
  type Driver,
  type TableMetadata,
} from 'kysely'
import type { Engine } from './portable.ts'
import type { Tables } from './tables.ts'

/** Kysely assumes that SQLite cannot roll back DDL. It can, so migrations run in one transaction. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** The caller has its own lock, because Kysely takes its one only when the tables of migrations are there. */
class UnlockedPostgresAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}

/** Sees only the schema in which tables are made. Another one may belong to another program. */
class CurrentSchemaIntrospector extends PostgresIntrospector {
  readonly #db: Kysely<unknown>

  constructor(db: Kysely<unknown>) {
    super(db)
    this.#db = db
  }

  override async getTables(options?: DatabaseMetadataOptions): Promise<TableMetadata[]> {
    const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(this.#db)
    const tables = await super.getTables(options)
    return tables.filter(({ schema }) => schema === rows[0]?.name)
  }
}

/** How Kysely speaks to each engine. */
export const dialects: Record<Engine, Omit<Dialect, 'createDriver'>> = {
  sqlite: {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
  postgres: {
    createAdapter: () => new UnlockedPostgresAdapter(),
    createIntrospector: (db) => new CurrentSchemaIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}

/** A Kysely over a single connection. The caller begins and commits transactions, except in migrations. */
export function kyselyOver(executeQuery: DatabaseConnection['executeQuery'], engine: Engine): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery,
    streamQuery: () => {
      throw new Error('streaming is not used')
    },
  }
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
  return new Kysely({ dialect: { ...dialects[engine], createDriver: () => driver } })
}
