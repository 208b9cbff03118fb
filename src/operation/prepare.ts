import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { AuditKey } from '../audit/audit-links.ts'
import type { Config, ServerConfig } from '../config.ts'
import { timestamp, type Clock } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../database/database.ts'
import {
  databaseProblem,
  refuseUnfit,
  nameOfDatabase,
  openDatabase,
  type OpenDatabase,
} from '../database/open.ts'
import { migrate, missingMigrations } from '../database/migrate.ts'
import { makeFirstUser } from '../first-start.ts'
import { findMeta, noteMeta } from '../database/meta-store.ts'
import { writePrivateFile } from './new-file.ts'
import { makeIndexes } from './indexes.ts'
import {
  checkFingerprint,
  findSecretKey,
  FINGERPRINT,
  fingerprintOf,
  newSecretKey,
  secretKeyFile,
  writeSecretKey,
} from './secret-key.ts'

/** Where a generated token of the first administrator is kept. */
export function adminTokenFile(folder: string): string {
  return join(folder, 'admin-token')
}

export type Prepared = {
  readonly database: Database
  readonly config: ServerConfig
  /** How many connections to the database this role may have. */
  readonly connections: number
  /** Path of the secret key; undefined if the settings contain the key. */
  readonly keyFile?: string
  /** On a first start: the admin's token, and, if they are shown, the secret of a link that sets their password. */
  readonly first?: { readonly token: string; readonly link?: string }
}

type Surroundings = {
  readonly clock: Clock
  /** Whether what a server prints goes to a terminal. Logs are kept and passed on, so they must have no secrets. */
  readonly isTerminal?: boolean
  /** Prints a line for the operator. */
  readonly say: (line: string) => void
}

/**
 * Prepares the database for a server: checks that it may be used, migrates it, and ensures a secret key and a first
 * user. Problems are found before anything is written.
 */
export async function prepare(config: Config, surroundings: Surroundings): Promise<Prepared> {
  let open: OpenDatabase | undefined
  try {
    open = await openDatabase(config)
    await open.untilReachable(config.databaseWaitSeconds, () => {
      surroundings.say(`waiting for ${nameOfDatabase(config)} …`)
    })
    return await prepareOpened(open, config, surroundings)
  } catch (error) {
    await open?.database.close()
    throw databaseProblem(error, config)
  }
}

async function prepareOpened(
  open: OpenDatabase,
  config: Config,
  surroundings: Surroundings,
): Promise<Prepared> {
  const { database } = open
  const { clock } = surroundings
  const { connections } = await refuseUnfit(open, config)
  const isSqlite = config.databaseUrl === undefined
  const { secretKey } = await bringUpToDate(open, config, surroundings.say, { mayWait: isSqlite })
  const file = adminTokenFile(config.data)
  let isOurs = false
  const isGiven = config.adminToken !== undefined
  const own = { token: config.adminToken, withLink: !isGiven && surroundings.isTerminal === true }
  const first = await makeFirstUser(database, clock, new AuditKey(secretKey), own, (token) => {
    if (isGiven) return
    if (!isOurs) keepOtherToken(file, surroundings)
    // Written before the commit, so that a crash cannot lose a token that nobody has read.
    writePrivateFile(file, `${token}\n`)
    // The transaction may run again.
    isOurs = true
  })
  await open.openConnections(Math.floor(connections / config.workers))
  return {
    database,
    config: { ...config, secretKey },
    connections,
    keyFile: config.secretKey === undefined ? secretKeyFile(config.data) : undefined,
    first,
  }
}

/** The file may hold the token of another database that uses the same data folder, or be left by a crash. */
function keepOtherToken(file: string, { clock, say }: Surroundings): void {
  if (!existsSync(file)) return
  // Windows allows no colon in a name.
  const kept = `${file}.${timestamp(clock.now()).replaceAll(':', '-')}`
  renameSync(file, kept)
  say(`${file} existed already and was renamed to ${kept}: its token may belong to another database`)
}

/**
 * Migrates. Uses the secret key of the database, or creates one for a new database.
 *
 * @param mayWait whether indexes may be made that wait for transactions of others. Without it a server makes them while it
 *   serves: `makeIndexesBeside`
 */
export async function bringUpToDate(
  { database, withConnection }: OpenDatabase,
  config: Config,
  say: Surroundings['say'],
  { mayWait }: { readonly mayWait: boolean },
): Promise<{ secretKey: Buffer; migrated: string[]; indexes: string[] }> {
  const missing = await withConnection(missingMigrations)
  const isEmpty = missing.applied === 0
  const noted = isEmpty ? undefined : await database.read((tx) => findMeta(tx, FINGERPRINT))
  let secretKey = findSecretKey(config)
  checkFingerprint(noted, secretKey, config.data)
  if (secretKey === undefined) {
    secretKey = newSecretKey()
    writeSecretKey(secretKeyFile(config.data), secretKey)
  }
  if (missing.names.length > 0) {
    say(`${isEmpty ? 'making the tables in' : 'migrating'} ${nameOfDatabase(config)} …`)
  }
  if (missing.newer.length > 0) {
    say(
      `the database has the newer migrations ${missing.newer.join(', ')}, whose tables this version can use`,
    )
  }
  const migrated = missing.names.length > 0 ? await withConnection(migrate) : []
  const indexes = mayWait || isEmpty ? await makeIndexes(withConnection, isEmpty ? () => {} : say) : []
  const fingerprint = fingerprintOf(secretKey)
  checkFingerprint(
    await database.write((tx) => noteMeta(tx, FINGERPRINT, fingerprint)),
    secretKey,
    config.data,
  )
  return { secretKey, migrated, indexes }
}

/** For worker processes, after another process has run `prepare`. */
export async function openPrepared(config: Config): Promise<Pick<Prepared, 'database' | 'config'>> {
  const secretKey = findSecretKey(config)
  if (secretKey === undefined) throw new OperatorError(`there is no secret key in ${config.data}`)
  const { database, examine, openConnections } = await openDatabase(config)
  // During an outage a worker starts all the same.
  const { connections } = await examine().catch(() => ({ connections: Infinity }))
  await openConnections(Math.floor(connections / config.workers))
  return { database, config: { ...config, secretKey } }
}
