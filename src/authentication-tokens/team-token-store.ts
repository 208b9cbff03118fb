import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { columnSet, type Standing } from '../access/decide.ts'
import type { Column } from '../access/rules.ts'
import type { Transaction } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { TokenRow } from './token-store.ts'

type Teams = ExpressionBuilder<Tables, 'teams' | 'authentication_tokens'>
type Viewer = { actor: Actor; standing: Standing }

/** Which teams' tokens are the caller's to manage: the list form of `team:tokens`. */
function isManageable(eb: Teams, { actor, standing }: Viewer): Expression<SqlBool> {
  const has = (...columns: Column[]) => (standing.columns & columnSet(...columns)) !== 0
  const isNotOwners = eb('teams.is_owners', '=', 0)
  const isOpen = eb('teams.visibility', '=', 'organization')
  if (has('SA', 'OW')) return eb.lit(true)
  if (has('OG')) return isNotOwners
  // What a team's flags give is for the people in it, not for its token.
  if (actor.kind !== 'user') return eb.lit(false)
  const isOwn = eb(
    'teams.id',
    'in',
    eb
      .selectFrom('team_members as member')
      .where('member.user_id', '=', actor.userId)
      .where('member.is_active', '=', 1)
      .select('member.team_id'),
  )
  const isMembers = standing.membersManageTokens
    ? eb.and([isOwn, eb('teams.allow_member_token_management', '=', 1)])
    : eb.lit(false)
  if (!has('MT', 'MO')) return isMembers
  const isVisible = standing.seesSecretTeams ? eb.lit(true) : eb.or([isOpen, isOwn])
  return eb.or([isMembers, eb.and([isNotOwners, isVisible])])
}

/** A page of them, oldest first. */
export async function listManageableTeamTokens(
  tx: Transaction,
  organizationId: string,
  viewer: Viewer,
  page: Page,
): Promise<{ tokens: TokenRow[]; total: number }> {
  const query = tx.db
    .selectFrom('authentication_tokens')
    .innerJoin('teams', 'teams.id', 'authentication_tokens.team_id')
    .where('authentication_tokens.organization_id', '=', organizationId)
    .where('authentication_tokens.kind', '=', 'team')
    .where((eb) => isManageable(eb, viewer))
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const tokens = await query
    .selectAll('authentication_tokens')
    .orderBy('authentication_tokens.created_at')
    .orderBy('authentication_tokens.id')
    .limit(page.size)
    .offset((page.number - 1) * page.size)
    .execute()
  return { tokens, total: count }
}
