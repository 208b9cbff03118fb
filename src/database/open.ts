import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Database, DatabaseOptions } from './database.ts'
import { PostgresDatabase } from './postgres.ts'
import { SqliteDatabase } from './sqlite.ts'
import type { Tables } from './tables.ts'

export const SQLITE_FILE = 'purser.sqlite'

export type OpenDatabase = {
  readonly database: Database
  /** A bare connection for migrations, which begin and commit by themselves. */
  readonly withConnection: <T>(work: (db: Kysely<Tables>) => Promise<T>) => Promise<T>
}

/** Opens the database that the settings name; the tables in it may be of any version still. */
export function openDatabase(
  config: Pick<Config, 'data' | 'databaseUrl'>,
  onError: (error: Error) => void,
  options: DatabaseOptions = {},
): OpenDatabase {
  if (config.databaseUrl !== undefined) {
    const database = new PostgresDatabase(config.databaseUrl, onError, options)
    return { database, withConnection: (work) => database.withConnection(work) }
  }
  const database = new SqliteDatabase(join(config.data, SQLITE_FILE), options)
  return { database, withConnection: (work) => work(database.connection.db) }
}
