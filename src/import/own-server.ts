import { existing } from '../core/existing.ts'
import { randomBytes } from 'node:crypto'
import { hashToken } from '../access/actor-store.ts'
import { COMMAND_LINE_TOKEN } from '../access/operator.ts'
import { createApp } from '../app.ts'
import { operatorSecretKey, readDatabase, systemUser } from '../operation/command-database.ts'
import type { Config } from '../config.ts'
import { systemClock, timestamp } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database, Transaction } from '../database/database.ts'
import { JSON_API } from '../http/call.ts'
import { createLog } from '../operation/log.ts'
import { openPrepared } from '../operation/prepare.ts'
import { findUserByUsername, type UserRow, findSiteAdministrators } from '../users/user-store.ts'
import { keyOf } from '../users/users.ts'

/** The token is valid only while its server runs, so it needs no expiry. */
const NEVER = '9999-12-31T23:59:59.999Z'

export type OwnServer = {
  readonly database: Database
  /** `http://127.0.0.1:PORT` */
  readonly address: string
  /** Valid only for this server, until it closes. */
  readonly token: string
  readonly user: UserRow
  readonly config: Config
  [Symbol.asyncDispose](): Promise<void>
}

export type OwnServerOptions = {
  /** The site administrator to act as. Optional if there is only one. */
  as?: string
  /** Nothing can be written. */
  isReadOnly?: boolean
}

/**
 * Serves the configured database to this process only, on a local address. So a command's requests follow the same
 * rules and limits as all others and write the same audit events. Another server may run at the same time.
 */
export async function openOwnServer(
  settings: Config,
  { as, isReadOnly = false }: OwnServerOptions,
): Promise<OwnServer> {
  const { user, secretKey } = await readDatabase(settings, async (tx) => ({
    // Another key would break the audit trail with the first event.
    secretKey: await operatorSecretKey(tx, settings),
    user: await administrator(tx, as),
  }))
  const { config, database } = await openPrepared({ ...settings, secretKey })
  const token = randomBytes(32).toString('base64url')
  const operator = {
    tokenHash: hashToken(token),
    systemUser: systemUser(),
    actor: {
      kind: 'user',
      tokenId: COMMAND_LINE_TOKEN,
      tokenMadeAt: timestamp(systemClock.now()),
      tokenExpiresAt: NEVER,
      userId: user.id,
      teamId: null,
      organizationId: null,
      isSiteAdmin: true,
      auditTrailOf: null,
      name: existing(user.username),
    },
  } as const
  const { publicUrl: _, tlsCert: _cert, tlsKey: _key, ...own } = config
  const app = createApp(
    { ...own, trustProxy: false },
    isReadOnly ? readOnly(database) : database,
    createLog('silent'),
    systemClock,
    operator,
  )
  const address = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`
  return { database, address, token, user, config, [Symbol.asyncDispose]: () => app.close() }
}

/** Sends a request to a server of this process, and reads the whole answer. */
export async function sendRequest(
  { address, token }: Pick<OwnServer, 'address' | 'token'>,
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const url = `${address}/api/v2${path}`
  // A name such as `..` makes a URL with another path; nothing has such a name.
  if (!new URL(url).href.endsWith(path)) return { status: 404, text: '{}' }
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': JSON_API },
    body,
  })
  return { status: response.status, text: await response.text() }
}

function readOnly(database: Database): Database {
  return {
    engine: database.engine,
    availability: database.availability,
    load: database.load,
    read: (work, options) => database.read(work, options),
    write: () => Promise.reject(new Error('a dry run writes nothing')),
    close: () => database.close(),
  }
}

async function administrator(tx: Transaction, as: string | undefined): Promise<UserRow> {
  if (as !== undefined) {
    const user = await findUserByUsername(tx, keyOf(as))
    if (user !== undefined && user.is_site_admin === 1 && user.is_suspended === 0) return user
    throw new OperatorError(`--as must name a site administrator who is not suspended`)
  }
  const [only, ...others] = await findSiteAdministrators(tx)
  if (only !== undefined && others.length === 0) return only
  throw new OperatorError(
    only === undefined
      ? 'there is no site administrator to act as; create one with user create --admin'
      : `there are several site administrators: name the one to act as with --as`,
  )
}
