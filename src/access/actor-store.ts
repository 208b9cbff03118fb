import { hash } from 'node:crypto'
import { sql, type RawBuilder, type SqlBool } from 'kysely'
import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Actor } from './actor.ts'
import { isTooOld, ttlKindOf } from './token-policy.ts'

/** The database stores only this hash. A token has at least 160 random bits, so it needs no salt and no slow hash. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

/** SQL condition: this person may hand out tokens and links to other users. `person` is a column with an id. */
export function mayHandOut(person: string): RawBuilder<SqlBool> {
  return sql`exists (select 1 from users as other
    where other.id = ${sql.ref(person)} and other.is_site_admin = 1 and other.is_suspended = 0)`
}

/**
 * SQL condition: who handed out the token, if it was somebody else, may still do that. Ending that right ends the token, too.
 * Here it is checked once more, for what another release or a race has left. The token is named `token`.
 */
export const isStillHandedOut = sql<SqlBool>`(token.kind <> 'user' or (
  (token.created_by_id is null or token.created_by_id = token.user_id or ${mayHandOut('token.created_by_id')})
  and not exists (select 1 from token_origins as origin where origin.token_id = token.id
    and origin.user_id <> token.user_id and not ${mayHandOut('origin.user_id')})))`

const actorQuery = prepared<{ hash: string }>()((db, param) =>
  db
    .selectFrom('authentication_tokens as token')
    .leftJoin('users as user', 'user.id', 'token.user_id')
    .leftJoin('teams as team', 'team.id', 'token.team_id')
    .leftJoin('organizations as organization', 'organization.id', 'token.organization_id')
    .where('token.hash', '=', param('hash'))
    .where(isStillHandedOut)
    .select([
      'token.id',
      'token.kind',
      'token.user_id',
      'token.team_id',
      'token.organization_id',
      'token.created_at',
      'token.age_since',
      'token.expires_at',
      'token.last_used_at',
      'user.username',
      'user.is_suspended',
      'user.is_site_admin',
      'team.name as team_name',
      'organization.name as organization_name',
      'organization.deleted_at',
      'organization.max_ttl_enabled',
      'organization.max_ttl_team_ms',
      'organization.max_ttl_organization_ms',
      'organization.max_ttl_audit_trails_ms',
    ]),
)

export type Authentication = { actor: Actor; lastUsedAt: string | null }

/**
 * Finds the caller that a token acts as. Returns undefined if the token is unknown, revoked, expired or older than its
 * organization allows, if its user is suspended, if who handed it out no longer may, or if its organization is deleted.
 */
export async function findActor(
  tx: Transaction,
  tokenHash: string,
  now: Date,
): Promise<Authentication | undefined> {
  const row = await tx.first(actorQuery, { hash: tokenHash })
  if (
    row === undefined ||
    row.expires_at <= timestamp(now) ||
    row.is_suspended === 1 ||
    row.deleted_at !== null
  ) {
    return undefined
  }
  // A user token belongs to no organization. Each organization checks its age separately, see `refuseUserToken`.
  if (row.kind !== 'user' && isTooOld(row, ttlKindOf(row.kind), row.created_at, now)) return undefined
  return { actor: actorOf(row), lastUsedAt: row.last_used_at }
}

function actorOf(row: typeof actorQuery.row): Actor {
  const { organization_id: organizationId } = row
  const token = {
    tokenId: row.id,
    tokenMadeAt: row.age_since ?? row.created_at,
    tokenExpiresAt: row.expires_at,
    userId: null,
    teamId: null,
    organizationId: null,
    isSiteAdmin: false,
    auditTrailOf: null,
  } as const
  if (row.kind === 'user') {
    const [userId, isSiteAdmin] = [existing(row.user_id), row.is_site_admin === 1]
    return { ...token, kind: 'user', userId, isSiteAdmin, name: row.username ?? '' }
  }
  if (row.kind === 'team') {
    const own = {
      userId: existing(row.user_id),
      teamId: existing(row.team_id),
      organizationId: existing(organizationId),
    }
    return { ...token, ...own, kind: 'team', name: row.team_name ?? '' }
  }
  const organization = { ...token, kind: 'organization', name: row.organization_name ?? '' } as const
  return row.kind === 'organization'
    ? { ...organization, organizationId: existing(organizationId) }
    : { ...organization, auditTrailOf: existing(organizationId) }
}
