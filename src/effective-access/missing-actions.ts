import type { Actor } from '../access/actor.ts'
import { neededGrants, type NeededGrant } from '../access/needed-grants.ts'
import { standingOf, type InForce, type OrganizationFacts } from '../access/standing.ts'
import { existing } from '../core/existing.ts'
import { NO_ID } from '../core/ids.ts'
import type { EffectiveAccess } from './effective-access-document.ts'
import type { Holder } from './holdings.ts'
import { actionsOn, allActions, namesOfActions, permissionsOn, somebody } from './levels.ts'

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
  // Columns add up, so the grants that the holder has change nothing about what each other grant would give.
  const judged = { actor: actorOf(holder), standing, target: { grants: 0 } }
  const missing = namesOfActions(on, allActions(on) & ~actionsOn(on, held))
  return Object.fromEntries(
    missing.map((name) => [name, neededGrants(existing(permissionsOn[on][name]), judged, facts)]),
  )
}

function actorOf({ kind, id }: Holder): Actor {
  return kind === 'user' ? somebody : { ...somebody, kind, teamId: id, userId: NO_ID, organizationId: NO_ID }
}
