import { isPermitted } from '../access/decide.ts'
import { nowhere } from '../access/standing.ts'
import { NO_ID, idInPath } from '../core/ids.ts'
import type { Loading } from '../http/route.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { findMembership, teamsOfMembership } from './membership-store.ts'

/** The membership that a path names. */
export const membershipPlace = {
  path: '/organization-memberships/:organization_membership_id',
  type: 'organization-memberships',
  address: idInPath('membership', 'organization_membership_id'),
  load: async ({ tx, actor, deps, address: { id } }: Loading<{ id: string }>) => {
    const membership = await findMembership(tx, id)
    const organization = await findOrganization(tx, membership?.organization_id ?? NO_ID)
    const standing = await deps.standings.in(tx, actor, organization ?? nowhere)
    const target = { userId: membership?.user_id ?? null }
    // There may be many teams. They are not read if the caller may not know the user, because the time would reveal them.
    const isKnown = membership !== undefined && isPermitted('membership:read', actor, standing, target)
    const teamsOfUser = await teamsOfMembership(tx, isKnown ? id : NO_ID)
    if (membership === undefined || organization === undefined) return undefined
    const [team] = membership.is_service_account === 1 ? teamsOfUser : []
    return {
      organization,
      membership,
      target: isKnown ? { ...target, teamsOfUser } : target,
      // A service account reveals its team, so a caller who may not see the team may not see the account.
      also: team && ({ permission: 'team:read', target: { team } } as const),
    }
  },
}
