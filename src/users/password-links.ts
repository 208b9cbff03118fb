import { Type } from 'typebox'
import { hashToken } from '../access/actor-store.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import { timeAfter, timestamp } from '../core/clock.ts'
import { invalid, notFound } from '../core/errors.ts'
import { newSecret } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { resourceType, timeSchema } from '../jsonapi/description.ts'
import { insertPasswordLink } from './password-link-store.ts'
import { lockUser, type UserRow } from './user-store.ts'

const LIFE_MS = 3 * 86_400_000

/** Who makes a link: see PasswordLinkTable. */
type Maker = { readonly created_by_id: string | null; readonly made_with_id: string | null }

/** The maker of a link that is made at the command line. */
export const nobody: Maker = { created_by_id: null, made_with_id: null }

type NewPasswordLink = { userId: string; secret: string; expiresAt: string }

/**
 * Makes a link with which the user sets a password, once and within three days. Somebody who was invited and has no account
 * yet chooses a user name with it, too. The caller passes it on, so nobody else chooses or learns the password.
 */
export async function createPasswordLink(
  tx: Transaction,
  { clock }: Pick<Deps, 'clock'>,
  userId: string,
  maker: Maker,
): Promise<NewPasswordLink & { user: UserRow; event: AuditEvent }> {
  const user = await lockUser(tx, userId)
  if (user === undefined) throw notFound()
  if (user.is_service_account === 1) throw invalid('a service account has no password')
  const secret = newSecret()
  const now = clock.now()
  const expiresAt = timeAfter(now, LIFE_MS)
  const created_at = timestamp(now)
  await insertPasswordLink(tx, {
    hash: hashToken(secret),
    user_id: userId,
    created_at,
    expires_at: expiresAt,
    ...maker,
  })
  const event = {
    action: 'user.create-password-link',
    resourceType: 'users',
    resourceId: userId,
    details: { username: user.username, 'expired-at': expiresAt },
  }
  return { userId, secret, expiresAt, user, event }
}

/** Only the answer that makes a link shows it. */
export const passwordLinkResource = resourceType<NewPasswordLink>({
  type: 'password-links',
  id: ({ userId }) => userId,
  attributes: {
    link: [Type.String(), ({ secret }) => secret],
    'expired-at': [timeSchema, ({ expiresAt }) => expiresAt],
  },
  self: ({ userId }) => `/api/v2/admin/users/${userId}/password-links`,
})
