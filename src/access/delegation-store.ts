import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import {
  asksForStrength,
  canSeeTeam,
  givesEverywhere,
  hasFlagsOf,
  isDelegate,
  type Caller,
  type Standing,
  type Target,
  type TeamFacts,
} from './decide.ts'
import type { Permission } from './rules.ts'

type Teams = ExpressionBuilder<Tables, 'teams'>

/**
 * How many grants of one team are compared, on workspaces and on projects. A page has 100 teams, so this limits its
 * response time. Only callers who may give grants everywhere may change a team with more grants.
 */
export const MAX_GRANTS_LOOKED_AT = 200

/** Ids of the projects on which the user has a grant of one of the levels. */
function ownProjects(eb: Teams, userId: string, levels: readonly ('maintain' | 'admin')[]) {
  return eb
    .selectFrom('team_projects as own')
    .innerJoin('team_members as member', 'member.team_id', 'own.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where('own.access', 'in', levels)
    .select('own.project_id')
}

/** Whether the team has a grant on a workspace that the user may not give, or too many grants to compare. */
function hasUngivableOnWorkspaces(eb: Teams, userId: string): Expression<SqlBool> {
  const given = eb
    .selectFrom('team_workspaces as given')
    .select('given.id')
    .whereRef('given.team_id', '=', 'teams.id')
  const ownWorkspaces = eb
    .selectFrom('team_workspaces as own')
    .innerJoin('team_members as member', 'member.team_id', 'own.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where('own.access', '=', 'admin')
    .select('own.workspace_id')
  return eb.or([
    eb.exists(given.limit(1).offset(MAX_GRANTS_LOOKED_AT)),
    eb.exists(
      given.where('given.workspace_id', 'not in', ownWorkspaces).where((inner) =>
        inner.not(
          inner.exists(
            inner
              .selectFrom('workspaces as place')
              .whereRef('place.id', '=', 'given.workspace_id')
              .where('place.project_id', 'in', ownProjects(eb, userId, ['maintain', 'admin']))
              .select('place.id'),
          ),
        ),
      ),
    ),
  ])
}

/** The same for grants on projects. */
function hasUngivableOnProjects(eb: Teams, userId: string): Expression<SqlBool> {
  const given = eb
    .selectFrom('team_projects as given')
    .select('given.id')
    .whereRef('given.team_id', '=', 'teams.id')
  return eb.or([
    eb.exists(given.limit(1).offset(MAX_GRANTS_LOOKED_AT)),
    eb.exists(given.where('given.project_id', 'not in', ownProjects(eb, userId, ['admin']))),
  ])
}

/** SQL condition: the team is no stronger than the caller. For lists, the same rule as cell v5 has in addition to v. */
export function isNoStronger(eb: Teams, caller: Caller & { userId: string }): Expression<SqlBool> {
  const { userId, standing } = caller
  const parts: Expression<SqlBool>[] = [sql<SqlBool>`(teams.organization_access & ${standing.lacks}) = 0`]
  if (!givesEverywhere('workspaces', caller)) parts.push(eb.not(hasUngivableOnWorkspaces(eb, userId)))
  if (!givesEverywhere('projects', caller)) parts.push(eb.not(hasUngivableOnProjects(eb, userId)))
  return eb.and(parts)
}

/** Adds to each team which of its grants the user cannot give. For users who are delegates, or may become delegates. */
export async function withUngivable(
  tx: Transaction,
  userId: string,
  teams: readonly TeamFacts[],
): Promise<TeamFacts[]> {
  const ids = [...new Set(teams.map(({ id }) => id))].toSorted()
  const found = (has: typeof hasUngivableOnWorkspaces) =>
    inSlices(ids, (slice) =>
      tx.db
        .selectFrom('teams')
        .where('id', 'in', slice)
        .where((eb) => has(eb, userId))
        .select('id')
        .execute(),
    )
  const onWorkspaces = new Set((await found(hasUngivableOnWorkspaces)).map(({ id }) => id))
  const onProjects = new Set((await found(hasUngivableOnProjects)).map(({ id }) => id))
  return teams.map((team) => ({
    ...team,
    ungivable: { onWorkspaces: onWorkspaces.has(team.id), onProjects: onProjects.has(team.id) },
  }))
}

/** For a team whose grants do not change the decision. */
const unknown = { onWorkspaces: true, onProjects: true } as const

/**
 * Adds the facts that decide which of these teams the caller may change. Grants are read only for delegates, and only
 * of teams that they see and whose flags they have. In all other cases grants do not change the decision.
 */
export async function judgedTeams(
  tx: Transaction,
  caller: Caller,
  teams: readonly TeamFacts[],
): Promise<readonly TeamFacts[]> {
  const { actor, standing } = caller
  if (!isDelegate(standing) || actor.userId === null) return teams
  const isRead = (team: TeamFacts) =>
    !team.isOwners &&
    canSeeTeam(standing, team) &&
    hasFlagsOf(standing, team) &&
    !givesEverywhere('projects', caller)
  const read = await withUngivable(tx, actor.userId, teams.filter(isRead))
  const byId = new Map(read.map((team) => [team.id, team]))
  return teams.map((team) => byId.get(team.id) ?? { ...team, ungivable: unknown })
}

/** Whether the decision needs what `judgedTarget` adds. */
export function needsMore(permission: Permission, standing: Standing): boolean {
  return isDelegate(standing) && asksForStrength(permission)
}

/** Adds to the target what the decision needs to know about its teams. */
export async function judgedTarget(tx: Transaction, caller: Caller, target: Target): Promise<Target> {
  const { team, teamsOfUser } = target
  return {
    ...target,
    ...(team === undefined ? {} : { team: (await judgedTeams(tx, caller, [team]))[0] }),
    ...(teamsOfUser === undefined ? {} : { teamsOfUser: await judgedTeams(tx, caller, teamsOfUser) }),
  }
}
