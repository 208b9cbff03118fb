import { parseTokenRequest } from '../authentication-tokens/tokens.ts'
import { issueUserToken } from '../authentication-tokens/user-tokens.ts'
import type { Config } from '../config.ts'
import type { Transaction } from '../database/database.ts'
import { parseResource } from '../jsonapi/body.ts'
import { endTokensOf } from '../login/ended-tokens.ts'
import { createAccount } from '../users/accounts.ts'
import { servedAddress } from '../operation/address.ts'
import { welcomeAddress } from '../operation/welcome.ts'
import { createPasswordLink, nobody } from '../users/password-links.ts'
import { findUserByEmail } from '../users/user-store.ts'
import { keyOf, newUserBody } from '../users/users.ts'
import { auditOperator, operatorDeps, writeDatabase } from '../operation/command-database.ts'
import { userNamed } from './named.ts'
import { bodyOf, parseMoment } from './parse.ts'

type NewUser = { username: string; email: string; isAdmin: boolean; withToken: boolean }
type TokenOptions = { description?: string; expires?: string }

export async function createUser(config: Config, { username, email, isAdmin, withToken }: NewUser) {
  const given = { username, email, 'is-admin': isAdmin }
  parseResource(bodyOf('users', given), newUserBody)
  return writeDatabase(config, async (tx) => {
    const account = { username, email, passwordHash: null, isAdmin }
    const { user, event } = await createAccount(tx, operatorDeps, account)
    const { id } = user
    await auditOperator(tx, config, event)
    const token = withToken ? await makeToken(tx, config, id, {}) : undefined
    return { id, ...given, ...(token === undefined ? {} : { token: token.token }) }
  })
}

export async function createTokenFor(config: Config, username: string, options: TokenOptions) {
  return writeDatabase(config, async (tx) =>
    makeToken(tx, config, (await userNamed(tx, username)).id, options),
  )
}

/** Makes a link with which the user sets a password, and returns its address. `name`: user name, or an invited email. */
export async function createPasswordLinkFor(config: Config, name: string) {
  return writeDatabase(config, async (tx) => {
    const { id } = (await findUserByEmail(tx, keyOf(name))) ?? (await userNamed(tx, name))
    const { secret, expiresAt, user, event } = await createPasswordLink(tx, operatorDeps, id, nobody)
    await auditOperator(tx, config, event)
    const url = welcomeAddress(servedAddress(config), secret, user.username === null)
    return { url, 'expired-at': expiresAt }
  })
}

/** Ends all tokens of a user, and the login codes that could give one. Returns how many tokens there were. */
export async function endTokensFor(config: Config, username: string): Promise<{ ended: number }> {
  return writeDatabase(config, async (tx) => {
    const { id } = await userNamed(tx, username)
    const { tokens: count, codes } = await endTokensOf(tx, id)
    const details = { count, 'login-codes': codes }
    const about = { resourceType: 'users', resourceId: id, details }
    if (count > 0 || codes > 0) await auditOperator(tx, config, { action: 'user-token.end-all', ...about })
    return { ended: count }
  })
}

async function makeToken(
  tx: Transaction,
  config: Config,
  userId: string,
  { description = 'command line', expires }: TokenOptions,
): Promise<{ id: string; token: string; 'expired-at': string }> {
  const attributes = {
    description,
    'expired-at': expires === undefined ? null : parseMoment(expires, operatorDeps.clock, 'future'),
  }
  const request = parseTokenRequest(bodyOf('authentication-tokens', attributes), operatorDeps)
  const owner = { userId, maker: null }
  const { token, text, event } = await issueUserToken(tx, { ...operatorDeps, config }, owner, request)
  await auditOperator(tx, config, event)
  return { id: token.id, token: text, 'expired-at': token.expires_at }
}
