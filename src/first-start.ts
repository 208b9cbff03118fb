import { createUserToken } from './authentication-tokens/tokens.ts'
import { newTokenText } from './authentication-tokens/token-text.ts'
import type { AuditKey } from './audit/audit-links.ts'
import { insertAuditEvents } from './audit/audit-store.ts'
import { timestamp, type Clock } from './core/clock.ts'
import { newId } from './core/ids.ts'
import type { Database } from './database/database.ts'
import { createPasswordLink, nobody } from './users/password-links.ts'
import { insertUser, isFirstStart } from './users/user-store.ts'

const ADMIN_EMAIL = 'admin@localhost'

/**
 * Creates the first user, `admin`, with a given or a generated token. Undefined if there are users already. Several nodes
 * may try at once; only one succeeds.
 *
 * @param withLink makes a link with which the admin sets a password, too
 * @param keep receives the token before the commit that makes it valid
 */
export async function makeFirstUser(
  database: Database,
  clock: Clock,
  auditKey: AuditKey,
  { token: givenToken, withLink = false }: { token: string | undefined; withLink?: boolean },
  keep: (token: string) => void = () => {},
): Promise<{ token: string; link?: string } | undefined> {
  return database.write(async (tx) => {
    if (!(await isFirstStart(tx))) return undefined
    const now = clock.now()
    const id = newId('user')
    const isNew = await insertUser(tx, {
      id,
      username: 'admin',
      username_key: 'admin',
      email: ADMIN_EMAIL,
      email_key: ADMIN_EMAIL,
      password_hash: null,
      is_site_admin: 1,
      created_at: timestamp(now),
    })
    if (isNew === undefined) return undefined
    const text = givenToken ?? newTokenText('user')
    await createUserToken(tx, { userId: id, description: 'first start', now, text })
    const link = withLink
      ? await createPasswordLink(tx, { clock: { now: () => now } }, id, nobody)
      : undefined
    const context = { at: timestamp(now), requestId: null, address: null, actor: null, key: auditKey }
    insertAuditEvents(tx, context, [
      {
        action: 'user.create',
        resourceType: 'users',
        resourceId: id,
        details: { username: 'admin', 'is-admin': true },
      },
      ...(link === undefined ? [] : [link.event]),
    ])
    keep(text)
    return { token: text, link: link?.secret }
  })
}
