import { hash } from 'node:crypto'
import { timestamp } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import type { Actor } from './actor.ts'
import { isTooOld, ttlKindOf } from './token-policy.ts'

/** Tokens are kept as this alone. A token is 160 random bits or more, so no salt or slow hash is needed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

const actorQuery = prepared<{ hash: string }>()((db, param) =>
  db
    .selectFrom('authentication_tokens as token')
    .leftJoin('users as user', 'user.id', 'token.user_id')
    .leftJoin('teams as team', 'team.id', 'token.team_id')
    .leftJoin('organizations as organization', 'organization.id', 'token.organization_id')
    .where('token.hash', '=', param('hash'))
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
 * Whom a token acts as; undefined for an unknown, revoked or expired one, for a suspended user's, for one that is older
 * than its organization lets it become and for those of a deleted organization.
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
  // A user's token is no organization's: each that he is in judges it for itself.
  if (row.kind !== 'user' && isTooOld(row, ttlKindOf(row.kind), row.created_at, now)) return undefined
  const kind = row.kind === 'audit-trails' ? 'organization' : row.kind
  return {
    actor: {
      kind,
      tokenId: row.id,
      tokenMadeAt: row.age_since ?? row.created_at,
      tokenExpiresAt: row.expires_at,
      userId: row.user_id,
      teamId: row.team_id,
      // A token for audit trails stands nowhere: it is no organization's token.
      organizationId: row.kind === 'audit-trails' ? null : row.organization_id,
      auditTrailOf: row.kind === 'audit-trails' ? row.organization_id : null,
      isSiteAdmin: row.kind === 'user' && row.is_site_admin === 1,
      name: (kind === 'user' ? row.username : kind === 'team' ? row.team_name : row.organization_name) ?? '',
    },
    lastUsedAt: row.last_used_at,
  }
}
