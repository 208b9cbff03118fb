import { sql, type Expression, type ExpressionBuilder, type SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import {
  asksForStrength,
  canSeeTeam,
  givesEverywhere,
  hasFlagsOf,
  isDelegate,
  type Standing,
  type Target,
  type TeamFacts,
} from './decide.ts'
import type { Permission } from './rules.ts'

type Caller = { readonly actor: Actor; readonly standing: Standing }
type Teams = ExpressionBuilder<Tables, 'teams'>

/**
 * Grants of a team that are looked at, on workspaces and on projects: a page has 100 teams, and nobody waits long for it. A
 * team with more is one for whoever gives grants everywhere.
 */
export const MAX_GRANTS_LOOKED_AT = 200

/** Projects where the user is granted one of the levels. */
function ownProjects(eb: Teams, userId: string, levels: readonly ('maintain' | 'admin')[]) {
  return eb
    .selectFrom('team_projects as own')
    .innerJoin('team_members as member', 'member.team_id', 'own.team_id')
    .where('member.user_id', '=', userId)
    .where('member.is_active', '=', 1)
    .where('own.access', 'in', levels)
    .select('own.project_id')
}

/** Whether the team has a grant on a workspace that nothing granted to the user lets them give, or too many to be looked at. */
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

/** The same of grants on projects. */
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

/** Which teams are no stronger than the caller: the list form of what the cell v5 asks beside v. */
export function isNoStronger(eb: Teams, caller: Caller & { userId: string }): Expression<SqlBool> {
  const { userId, standing } = caller
  const parts: Expression<SqlBool>[] = [sql<SqlBool>`(teams.organization_access & ${standing.lacks}) = 0`]
  if (!givesEverywhere('workspaces', caller)) parts.push(eb.not(hasUngivableOnWorkspaces(eb, userId)))
  if (!givesEverywhere('projects', caller)) parts.push(eb.not(hasUngivableOnProjects(eb, userId)))
  return eb.and(parts)
}

/** The teams with what is to be known of their grants, for a user who may be a delegate or may become one. */
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

/** Of a team that need not be looked at. */
const unknown = { onWorkspaces: true, onProjects: true } as const

/**
 * What has to be known to decide what a caller may change of these teams. Grants are read for delegates alone, and only of
 * teams that they see and whose flags they have: others are refused, or let through, whatever the grants are.
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

/** The target of a decision with all that the permission asks of its teams. */
export async function judgedTarget(
  tx: Transaction,
  permission: Permission,
  caller: Caller,
  target: Target,
): Promise<Target> {
  if (!asksForStrength(permission) || !isDelegate(caller.standing)) return target
  const { team, teamsOfUser } = target
  return {
    ...target,
    ...(team === undefined ? {} : { team: (await judgedTeams(tx, caller, [team]))[0] }),
    ...(teamsOfUser === undefined ? {} : { teamsOfUser: await judgedTeams(tx, caller, teamsOfUser) }),
  }
}
