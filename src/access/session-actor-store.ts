import { timestamp } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Authentication } from './actor-store.ts'
import { minutesSince } from './token-policy.ts'

const sessionQuery = prepared<{ hash: string }>()((db, param) =>
  db
    .selectFrom('sessions as session')
    .innerJoin('users as user', 'user.id', 'session.user_id')
    .where('session.hash', '=', param('hash'))
    .select([
      'session.id',
      'session.user_id',
      'session.created_at',
      'session.last_used_at',
      'session.longest_pause_ms',
      'session.expires_at',
      'session.password_checked_at',
      'user.username',
      'user.is_suspended',
      'user.is_site_admin',
    ]),
)

/** Finds the user of a session. Undefined if it is unknown, has ended, or its user is suspended. */
export async function findSessionActor(
  tx: Transaction,
  sessionHash: string,
  now: Date,
  { sessionIdleMinutes }: { readonly sessionIdleMinutes: number },
): Promise<Authentication | undefined> {
  const row = await tx.first(sessionQuery, { hash: sessionHash })
  if (row === undefined || row.is_suspended === 1 || row.expires_at <= timestamp(now)) return undefined
  if (minutesSince(row.last_used_at, now) >= sessionIdleMinutes) return undefined
  const pauseMs = now.getTime() - Date.parse(row.last_used_at)
  return {
    actor: {
      kind: 'user',
      tokenId: row.id,
      tokenMadeAt: row.created_at,
      tokenExpiresAt: row.expires_at,
      name: row.username ?? '',
      isSiteAdmin: row.is_site_admin === 1,
      userId: row.user_id,
      teamId: null,
      organizationId: null,
      auditTrailOf: null,
      session: {
        longestPauseMs: Math.max(row.longest_pause_ms, pauseMs),
        passwordCheckedAt: row.password_checked_at ?? row.created_at,
      },
    },
    lastUsedAt: row.last_used_at,
  }
}
