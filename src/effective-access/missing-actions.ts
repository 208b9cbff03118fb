import type { Actor } from '../access/actor.ts'
import type { ColumnSet } from '../access/decide.ts'
import { neededGrants, type NeededGrant } from '../access/needed-grants.ts'
import { standingOf, type InForce, type OrganizationFacts } from '../access/standing.ts'
import { NO_ID } from '../core/ids.ts'
import { entriesOf } from '../core/keys.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import type { Holder } from './holdings.ts'
import {
  projectActions,
  shownActions,
  shownProjectActions,
  actionsOn,
  somebody,
  workspaceActions,
} from './levels.ts'

/** For each action that the holder may not use, by its name in `gives`: what would permit it, each by itself. */
export type MissingActions = Readonly<Record<string, readonly NeededGrant[]>>

/** Asks the same decision as an explained refusal does. */
export function missingActions(
  { holder, place, held, sources }: EffectiveAccess,
  { organization, inForce }: { organization: OrganizationFacts; inForce: InForce },
): MissingActions {
  const { on, id, projectId } = place
  const standing = standingOf(holder, organization, inForce)
  const ofGrants = sources.flatMap(({ grant, held: alone }) => (grant === undefined ? [] : [alone]))
  const sumOf = (columns: readonly ColumnSet[]) => columns.reduce((sum, one) => sum | one, 0)
  const facts = {
    // No action here asks about a secret team.
    organization: { hasDelegation: organization.delegated_team_management === 1, hasSecretTeamsFlag: false },
    projectId,
    ...(on === 'workspace' ? { workspaceId: id } : {}),
  }
  const actions = actionsOn(on, held)
  const needed = (table: typeof workspaceActions | typeof projectActions, grants: ColumnSet) => {
    const may = table === workspaceActions ? shownActions(actions) : shownProjectActions(actions)
    const prefix = on === 'project' && table === workspaceActions ? 'workspaces/' : ''
    return entriesOf(table)
      .filter(([name]) => may[name] === false)
      .map(([name, permission]) => [
        `${prefix}${name}`,
        neededGrants(permission, { actor: actorOf(holder), standing, target: { grants } }, facts),
      ])
  }
  const ownGrants = sumOf(ofGrants.map(({ columns }) => columns))
  if (on === 'workspace') return Object.fromEntries(needed(workspaceActions, ownGrants))
  return Object.fromEntries([
    ...needed(projectActions, ownGrants),
    ...needed(workspaceActions, sumOf(ofGrants.map(({ inWorkspaces }) => inWorkspaces))),
  ])
}

function actorOf({ kind, id }: Holder): Actor {
  return kind === 'user' ? somebody : { ...somebody, kind, teamId: id, userId: NO_ID, organizationId: NO_ID }
}
