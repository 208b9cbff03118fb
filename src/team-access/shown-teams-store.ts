import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import { isPermitted, type Caller, type ColumnSet, type TeamFacts } from '../access/decide.ts'
import { teamIdsOf } from '../access/granted-places-store.ts'
import type { Permission } from '../access/rules.ts'
import { NO_ID } from '../core/ids.ts'
import type { Tables } from '../database/tables.ts'

/** The secret team `owners`, as somebody else's. A caller who may see its grants may see the grants of every team. */
export const ownersTeam: TeamFacts = {
  id: '',
  visibility: 'secret',
  isOwners: true,
  allowMemberTokenManagement: false,
  flags: 0,
}
const openTeam: TeamFacts = { ...ownersTeam, visibility: 'organization', isOwners: false }

/**
 * SQL condition on `teams`: the caller may see the team's grants on one workspace or project. The same rule as
 * `team-access:read` and `project-access:read`. Undefined if the caller may see those of all teams.
 */
export function shownTeams(
  permission: Permission,
  { actor, standing, grants }: Caller & { grants: ColumnSet },
): Expression<SqlBool> | undefined {
  const may = (team: TeamFacts) => isPermitted(permission, actor, standing, { team, grants })
  if (may(ownersTeam)) return undefined
  const eb = expressionBuilder<Tables, 'teams'>()
  const own = eb('teams.id', 'in', teamIdsOf(actor.userId ?? NO_ID))
  if (!may(openTeam)) return own
  const others = eb('teams.is_owners', '=', 0)
  return eb.or([
    own,
    standing.seesSecretTeams ? others : eb.and([others, eb('teams.visibility', '=', 'organization')]),
  ])
}
