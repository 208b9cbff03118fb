import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { columnSet, type Standing } from '../access/decide.ts'
import { isNoStronger } from '../access/delegation-store.ts'
import { teamIdsOf } from '../access/granted-places-store.ts'
import type { Column } from '../access/rules.ts'
import { maxTtlOf } from '../access/token-policy.ts'
import { timeAfter, timestamp } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { holdsText } from '../database/portable.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { OWNERS_TEAM } from '../teams/teams.ts'
import { isSeenBy } from './handed-out-store.ts'
import type { TokenRow } from './token-store.ts'

type Teams = ExpressionBuilder<Tables, 'teams'>
type Tokens = ExpressionBuilder<Tables, 'authentication_tokens'>
type Viewer = { actor: Actor; standing: Standing }

/** Whether the caller may manage the tokens of all teams. */
function managesAll({ standing }: Viewer): boolean {
  return (standing.columns & columnSet('SA', 'OW')) !== 0
}

/** SQL condition: the caller, who does not manage all, may manage the tokens of the team. The same rule as `team:tokens`. */
function isManageable(eb: Teams, { actor, standing }: Viewer): Expression<SqlBool> {
  const has = (...columns: Column[]) => (standing.columns & columnSet(...columns)) !== 0
  const isNotOwners = eb('teams.is_owners', '=', 0)
  const isOpen = eb('teams.visibility', '=', 'organization')
  if (has('OG')) return isNotOwners
  // A team's flags work for its members, not for its token.
  if (actor.kind !== 'user') return eb.lit(false)
  const isOwn = eb('teams.id', 'in', teamIdsOf(actor.userId))
  const isMembers = standing.membersManageTokens
    ? eb.and([isOwn, eb('teams.allow_member_token_management', '=', 1)])
    : eb.lit(false)
  if (!has('MT', 'MO')) return isMembers
  const isVisible = standing.seesSecretTeams ? eb.lit(true) : eb.or([isOpen, isOwn])
  const isWithin = isNoStronger(eb, { actor, standing, userId: actor.userId })
  return eb.or([isMembers, eb.and([isNotOwners, isVisible, isWithin])])
}

export const teamTokenSorts = ['team-name', 'created-by', 'expired-at', 'created-at', 'last-used-at'] as const

type TeamTokenFilter = {
  /** Part of the team's name. */
  readonly q?: string
  readonly expiry?: 'active' | 'expired'
}
export type TeamTokenSort = {
  readonly by: (typeof teamTokenSorts)[number]
  readonly direction: 'asc' | 'desc'
}

/** The tokens that the caller manages. Teams are looked at only if the caller does not manage all, or searches. */
function ofOrganization(tx: Transaction, { id }: OrganizationRow, viewer: Viewer, q?: string) {
  const query = tx.db
    .selectFrom('authentication_tokens')
    .where('authentication_tokens.organization_id', '=', id)
    .where('authentication_tokens.kind', '=', 'team')
  if (managesAll(viewer) && q === undefined) return query
  return query.where((eb) => {
    let team = eb
      .selectFrom('teams')
      .whereRef('teams.id', '=', 'authentication_tokens.team_id')
      .select('teams.id')
    if (!managesAll(viewer)) team = team.where((of) => isManageable(of, viewer))
    return eb.exists(q === undefined ? team : team.where(holdsText(tx.engine, 'teams.name', q)))
  })
}

/** A page of the tokens that the caller manages. Never used tokens, and hidden creators, sort first. */
export async function listManageableTeamTokens(
  tx: Transaction,
  organization: OrganizationRow,
  viewer: Viewer & { seesOwners: boolean },
  { filter, sort, page, now }: { filter: TeamTokenFilter; sort: TeamTokenSort; page: Page; now: Date },
): Promise<{ rows: TokenRow[]; total: number }> {
  const { q, expiry } = filter
  let query = ofOrganization(tx, organization, viewer, q)
  if (expiry !== undefined) {
    query = query.where((eb) => {
      const isInForce = inForce(eb, organization, now)
      return expiry === 'active' ? isInForce : eb.not(isInForce)
    })
  }
  return pageOf(query, page, (found) =>
    found
      .selectAll('authentication_tokens')
      .orderBy(sortKeys[sort.by](organization, viewer.seesOwners), sort.direction)
      .orderBy('authentication_tokens.created_at')
      .orderBy('authentication_tokens.id'),
  )
}

/** Not expired, and not older than the organization allows for team tokens. */
function inForce(eb: Tokens, organization: OrganizationRow, now: Date): Expression<SqlBool> {
  const most = maxTtlOf(organization, 'team')
  const parts = [eb('authentication_tokens.expires_at', '>', timestamp(now))]
  if (most !== undefined) {
    parts.push(eb('authentication_tokens.created_at', '>', timeAfter(now, -most)))
  }
  return eb.and(parts)
}

type SortKey = (organization: OrganizationRow, seesOwners: boolean) => Expression<string>

const sortKeys: Record<TeamTokenSort['by'], SortKey> = {
  'team-name': () => sql`(select name from teams where teams.id = authentication_tokens.team_id)`,
  'expired-at': () => sql.ref('authentication_tokens.expires_at'),
  'created-at': () => sql.ref('authentication_tokens.created_at'),
  'last-used-at': () => sql`coalesce(authentication_tokens.last_used_at, '')`,
  // Sorts by what the document shows: a creator that is hidden must not show through the position, either.
  'created-by': (organization, seesOwners) => sql<string>`case authentication_tokens.created_by_id
    when ${organization.id} then ${organization.name}
    when ${organization.owners_team_id} then ${seesOwners ? OWNERS_TEAM : ''}
    else coalesce((select username from users where users.id = authentication_tokens.created_by_id), '') end`,
}

/** The tokens with these ids that the caller manages. */
export function findManageableTeamTokens(
  tx: Transaction,
  organization: OrganizationRow,
  viewer: Viewer,
  ids: readonly string[],
): Promise<TokenRow[]> {
  return inSlices(ids, (slice) =>
    ofOrganization(tx, organization, viewer)
      .where('authentication_tokens.id', 'in', slice)
      .selectAll('authentication_tokens')
      .orderBy('authentication_tokens.id')
      .execute(),
  )
}

/** The team tokens that the caller manages, and that the person made or has seen. At most `most`. */
export function findTeamTokensSeenBy(
  tx: Transaction,
  organization: OrganizationRow,
  viewer: Viewer,
  userId: string,
  most: number,
): Promise<TokenRow[]> {
  return ofOrganization(tx, organization, viewer)
    .where((eb) => isSeenBy(eb, userId))
    .selectAll('authentication_tokens')
    .orderBy('authentication_tokens.id')
    .limit(most)
    .execute()
}
