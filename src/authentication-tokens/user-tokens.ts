import type { Actor } from '../access/actor.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import { invalid, notFound } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { lockUser, type UserRow } from '../users/user-store.ts'
import type { TokenOwner, TokenRow } from './token-store.ts'
import { checkTokenLimit, createToken, type TokenRequest } from './tokens.ts'

/** Creates a token for a user. Throws 422 if the user cannot have tokens or has too many. */
export async function issueUserToken(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'> & { config: Config },
  { userId, maker }: { userId: string; maker: Actor | null },
  request: TokenRequest,
): Promise<{ token: TokenRow; text: string; event: AuditEvent }> {
  const user = await lockUser(tx, userId)
  if (user === undefined) throw notFound()
  refuseTokenFor(user)
  const owner: TokenOwner = { kind: 'user', userId: user.id }
  await checkTokenLimit(tx, owner, deps)
  const { token, text } = await createToken(
    tx,
    deps,
    { owner, userId: user.id, organization: undefined, isSingle: false, maker },
    request,
  )
  const event = {
    action: 'user-token.create',
    resourceType: 'authentication-tokens',
    resourceId: token.id,
    details: { user: user.id, description: request.description, 'expired-at': token.expires_at },
  }
  return { token, text, event }
}

/** A service account gets only its team's tokens. An invited user without an account gets none. */
function refuseTokenFor(user: UserRow): void {
  if (user.is_service_account === 1) {
    throw invalid("a team's service account has its team's tokens and no others")
  }
  if (user.username === null) throw invalid('this user was invited and has no account yet')
}
