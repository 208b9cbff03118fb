import type { Actor } from '../access/actor.ts'
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
  { holder, place, held }: EffectiveAccess,
  { organization, inForce }: { organization: OrganizationFacts; inForce: InForce },
): MissingActions {
  const { on, id, projectId } = place
  const standing = standingOf(holder, organization, inForce)
  const facts = {
    // No action here asks about a secret team.
    organization: { hasDelegation: organization.delegated_team_management === 1, hasSecretTeamsFlag: false },
    projectId,
    ...(on === 'workspace' ? { workspaceId: id } : {}),
  }
  const actions = actionsOn(on, held)
  // Columns add up, so the grants that the holder has change nothing about what each other grant would give.
  const judged = { actor: actorOf(holder), standing, target: { grants: 0 } }
  const needed = (table: typeof workspaceActions | typeof projectActions) => {
    const may = table === workspaceActions ? shownActions(actions) : shownProjectActions(actions)
    const prefix = on === 'project' && table === workspaceActions ? 'workspaces/' : ''
    return entriesOf(table)
      .filter(([name]) => may[name] === false)
      .map(([name, permission]) => [`${prefix}${name}`, neededGrants(permission, judged, facts)])
  }
  return Object.fromEntries(
    on === 'workspace' ? needed(workspaceActions) : [...needed(projectActions), ...needed(workspaceActions)],
  )
}

function actorOf({ kind, id }: Holder): Actor {
  return kind === 'user' ? somebody : { ...somebody, kind, teamId: id, userId: NO_ID, organizationId: NO_ID }
}
