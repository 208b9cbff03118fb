import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { AppError } from '../core/errors.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import type { Database, DatabaseOptions } from './database.ts'
import type { Tables } from './tables.ts'

export const SQLITE_FILE = 'purser.sqlite'

/** A bare connection, for what begins and commits by itself. */
export type Connection = Kysely<Tables>

export type OpenDatabase = {
  readonly database: Database
  /** Waits for a server that takes no connections yet; calls `onWait` when it has to. Throws when it takes too long. */
  readonly untilReachable: (seconds: number, onWait: () => void) => Promise<void>
  readonly withConnection: <T>(work: (db: Connection) => Promise<T>) => Promise<T>
}

/** Opens the database that the settings name; the tables in it may be of any version still. */
export async function openDatabase(
  config: Pick<Config, 'data' | 'databaseUrl'>,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> {
  // Loaded when it is used: the driver of the other engine would only take memory.
  if (config.databaseUrl !== undefined) {
    const { PostgresDatabase } = await import('./postgres.ts')
    const database = new PostgresDatabase(config.databaseUrl, options)
    return {
      database,
      untilReachable: (seconds, onWait) => database.untilReachable(seconds, onWait),
      withConnection: (work) => database.withConnection(work),
    }
  }
  const { SqliteDatabase } = await import('./sqlite.ts')
  const database = new SqliteDatabase(sqliteFile(config.data), options)
  return {
    database,
    untilReachable: async () => {},
    withConnection: (work) => database.withConnection(work),
  }
}

export function sqliteFile(folder: string): string {
  return join(folder, SQLITE_FILE)
}

/** Whether there is a database in the folder. Throws OperatorError when there may be one that this user may not use. */
export function hasSqliteFile(folder: string): boolean {
  try {
    accessSync(sqliteFile(folder), constants.R_OK | constants.W_OK)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw new OperatorError(
      `this user may not use the database in ${folder} (${code}): run the command as the user of the server`,
    )
  }
}

/** As it may be shown: without user and password. */
export function nameOfDatabase(config: Pick<Config, 'data' | 'databaseUrl'>): string {
  if (config.databaseUrl === undefined) return sqliteFile(config.data)
  const url = URL.parse(config.databaseUrl)
  return url === null ? 'PostgreSQL' : `${url.protocol}//${url.host}${url.pathname}`
}

/** What the engines say when they cannot be used, as one line for the operator; any other error as it is. */
export function databaseProblem(error: unknown, config: Pick<Config, 'data' | 'databaseUrl'>): unknown {
  if (error instanceof OperatorError) return error
  if (error instanceof AppError && error.code === 'unavailable') {
    return new OperatorError(
      `cannot use the database ${nameOfDatabase(config)}: ${reasonOf(error.cause ?? error)}`,
    )
  }
  const { code } = error as { code?: unknown }
  const isOfEngine = typeof code === 'string' && /^(ERR_SQLITE_ERROR|E[A-Z]+|[0-9A-Z]{5})$/.test(code)
  // pg's own words, without a code: it waited in vain, or was hung up on.
  const isOfDriver = error instanceof Error && /timeout|Connection terminated/.test(error.message)
  if (!isOfEngine && !isOfDriver) return error
  return new OperatorError(`cannot use the database ${nameOfDatabase(config)}: ${reasonOf(error)}`)
}
