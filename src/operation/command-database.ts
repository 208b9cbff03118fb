import { userInfo } from 'node:os'
import { AuditKey } from '../audit/audit-links.ts'
import { insertAuditEvents, type AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import { systemClock, timestamp } from '../core/clock.ts'
import { newId } from '../core/ids.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { DatabaseOptions, Transaction, TransactionOptions } from '../database/database.ts'
import { FIRST_MIGRATION, missingMigrations } from '../database/migrate.ts'
import {
  databaseProblem,
  hasSqliteFile,
  nameOfDatabase,
  openDatabase,
  type DatabasePlace,
  type OpenDatabase,
} from '../database/open.ts'
import { advisedCommand } from './advised-command.ts'
import { findMeta } from '../database/meta-store.ts'
import { checkFingerprint, findSecretKey, FINGERPRINT } from './secret-key.ts'

/** The dependencies of rules when the operator acts at the command line. */
export const operatorDeps = { clock: systemClock, newId }

/** Runs `work` on an existing database, which a server may use, too. Throws if it is missing or has another version. */
export async function withDatabase<T>(config: Config, work: (open: OpenDatabase) => Promise<T>): Promise<T> {
  if (config.databaseUrl === undefined && !hasSqliteFile(config.data)) {
    throw new OperatorError(
      `there is no database in ${config.data}: name its folder with --data or PURSER_DATA, or make one with ${advisedCommand(config, 'migrate')}`,
    )
  }
  return withOpened(config, async (open) => {
    const { names } = await open.withConnection(missingMigrations)
    if (names[0] === FIRST_MIGRATION) {
      throw new OperatorError(
        `${nameOfDatabase(config)} holds no tables of Purser: check the database URL or the data folder, or make the tables with ${advisedCommand(config, 'migrate')}`,
      )
    }
    if (names.length > 0) {
      throw new OperatorError(
        `${nameOfDatabase(config)} is older than this Purser: migrate it with ${advisedCommand(config, 'migrate')}`,
      )
    }
    return work(open)
  })
}

/** Runs `work` in a transaction of an existing database that only reads. */
export function readDatabase<T>(
  config: Config,
  work: (tx: Transaction) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  return withDatabase(config, ({ database }) => database.read(work, options))
}

/** Runs `work` in a transaction of an existing database that may write. */
export function writeDatabase<T>(config: Config, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return withDatabase(config, ({ database }) => database.write(work))
}

/** Opens a database for work, and closes it. The work throws an error of the engine as one line for the operator. */
export async function withOpened<T>(
  config: DatabasePlace,
  work: (open: OpenDatabase) => Promise<T>,
  options?: DatabaseOptions,
): Promise<T> {
  let open: OpenDatabase | undefined
  try {
    open = await openDatabase(config, options)
    return await work(open)
  } catch (error) {
    throw databaseProblem(error, config)
  } finally {
    await open?.database.close()
  }
}

/** Writes an audit event for an action of the operator, who has no token. So the event names the system's user. */
export async function auditOperator(tx: Transaction, config: Config, event: AuditEvent): Promise<void> {
  const key = await operatorAuditKey(tx, config)
  const context = { at: timestamp(systemClock.now()), requestId: null, address: null, actor: null, key }
  const details = { ...event.details, 'command-line-user': systemUser() }
  insertAuditEvents(tx, context, [{ ...event, details }])
}

/** The key that chains the audit events of this database. */
export async function operatorAuditKey(tx: Transaction, config: Config): Promise<AuditKey> {
  return new AuditKey(await operatorSecretKey(tx, config))
}

/** The secret key of this database. Throws if there is none, or only that of another one. */
export async function operatorSecretKey(tx: Transaction, config: Config): Promise<Buffer> {
  const secretKey = findSecretKey(config)
  checkFingerprint(await findMeta(tx, FINGERPRINT), secretKey, config.data)
  if (secretKey === undefined) {
    throw new OperatorError(`there is no secret key yet: make one with ${advisedCommand(config, 'migrate')}`)
  }
  return secretKey
}

/** The human at the command line: with sudo, the one who has called it. */
export function systemUser(): string {
  const { SUDO_USER: caller } = process.env
  if (caller !== undefined && caller !== '' && process.getuid?.() === 0) return caller
  try {
    return userInfo().username
  } catch {
    // In a container the user may have no name.
    return String(process.getuid?.())
  }
}
