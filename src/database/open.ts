import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { placeOfDatabase } from '../core/database-url.ts'
import { causeOf, codeOf } from '../core/error-fields.ts'
import { AppError } from '../core/errors.ts'
import { OperatorError } from '../core/operator-error.ts'
import { reasonWithAdvice } from './connection-advice.ts'
import type { Database, DatabaseOptions } from './database.ts'
import type { Fitness } from './postgres-fitness.ts'
import type { Tables } from './tables.ts'

export const SQLITE_FILE = 'purser.sqlite'

/** Where the database is: its URL, or else the folder with its file. */
export type DatabasePlace = Pick<Config, 'data' | 'databaseUrl'>

/** A bare connection. Its user begins and commits transactions. */
export type Connection = Kysely<Tables>

export type OpenDatabase = {
  readonly database: Database
  /** Waits for a server that accepts no connections yet; calls `onWait` once if it must. Throws after `seconds`. */
  readonly untilReachable: (seconds: number, onWait: () => void) => Promise<void>
  /** What an operator has to know of the server of the database. On SQLite there is none. Changes nothing. */
  readonly examine: () => Promise<Fitness>
  /**
   * Opens all connections of a server, so that its first burst of requests does not wait for logins. It opens no more than
   * this process may have: a request that waits for one is better than one that is refused. Never throws.
   */
  readonly openConnections: (most: number) => Promise<void>
  readonly withConnection: <T>(work: (db: Connection) => Promise<T>) => Promise<T>
}

/** Opens the database of the settings. Its tables may be of any version. */
export async function openDatabase(
  config: DatabasePlace,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> {
  // Imported on demand: the driver of the unused engine would waste memory.
  if (config.databaseUrl !== undefined) {
    const { PostgresDatabase } = await import('./postgres.ts')
    const database = new PostgresDatabase(config.databaseUrl, options)
    return {
      database,
      untilReachable: (seconds, onWait) => database.untilReachable(seconds, onWait),
      examine: () => database.examine(),
      openConnections: (most) => database.openConnections(most),
      withConnection: (work) => database.withConnection(work),
    }
  }
  const { SqliteDatabase } = await import('./sqlite.ts')
  const database = new SqliteDatabase(sqliteFile(config.data), options)
  return {
    database,
    untilReachable: async () => {},
    examine: async () => ({ problems: [], connections: Infinity }),
    openConnections: async () => {},
    withConnection: (work) => database.withConnection(work),
  }
}

export function sqliteFile(folder: string): string {
  return join(folder, SQLITE_FILE)
}

/** Whether the folder has a database. Throws OperatorError if this user may not read and write it. */
export function hasSqliteFile(folder: string): boolean {
  try {
    accessSync(sqliteFile(folder), constants.R_OK | constants.W_OK)
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw new OperatorError(
      `this user may not use the database in ${folder} (${code}): run the command as the user of the server`,
    )
  }
}

/** The database's name without user and password, safe to print. */
export function nameOfDatabase(config: DatabasePlace): string {
  return config.databaseUrl === undefined ? sqliteFile(config.data) : placeOfDatabase(config.databaseUrl)
}

/** Throws OperatorError with a line for each reason why no server can use the database. */
export async function refuseUnfit(open: OpenDatabase, config: DatabasePlace): Promise<Fitness> {
  const fitness = await open.examine()
  if (fitness.problems.length === 0) return fitness
  const name = nameOfDatabase(config)
  throw new OperatorError(
    fitness.problems.map((problem) => `cannot use the database ${name}: ${problem}`).join('\n'),
  )
}

/** Turns an engine's error into one line for the operator; returns any other error unchanged. */
export function databaseProblem(error: unknown, config: DatabasePlace): unknown {
  if (error instanceof OperatorError) return error
  // PostgreSQL could not be reached or was lost.
  const isAway = error instanceof AppError && error.code === 'unavailable'
  const isOfEngine = /^(ERR_SQLITE_ERROR|E[A-Z]+|[0-9A-Z]{5})$/.test(codeOf(error) ?? '')
  if (!isAway && !isOfEngine) return error
  const reason = reasonWithAdvice(isAway ? causeOf(error) : error)
  return new OperatorError(`cannot use the database ${nameOfDatabase(config)}: ${reason}`)
}
