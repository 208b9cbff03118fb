import type { Actor } from '../access/actor.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { findMembershipOf } from '../organization-memberships/membership-store.ts'
import { findTeam, findTeamOfServiceAccount, type TeamRow } from '../teams/team-store.ts'
import { findUser, findUserByUsername, type UserRow } from '../users/user-store.ts'
import { keyOf, parseUserId } from '../users/users.ts'
import { teamsOfUsers } from './holdings-store.ts'
import type { Holder } from './holdings.ts'

/** Who is asked about: somebody by id or user name, or a team by its id. */
export type SubjectAddress = { readonly user: string } | { readonly team: string }

/** With the user as whom he or the team's token calls. */
export type Subject = { readonly holder: Holder; readonly name: string; readonly userId: string | null }

/** Undefined for whoever does not belong to the organization. A service account is its team. */
export async function findSubject(
  tx: Transaction,
  organizationId: string,
  address: SubjectAddress,
  actor: Pick<Actor, 'isSiteAdmin' | 'userId'>,
): Promise<Subject | undefined> {
  if ('team' in address) {
    const id = parseId('team', address.team)
    return teamSubject(id === undefined ? undefined : await findTeam(tx, id), organizationId)
  }
  const user = await findUserNamed(tx, address.user)
  if (user === undefined) return undefined
  if (user.is_service_account === 1) {
    return teamSubject(await findTeamOfServiceAccount(tx, user.id), organizationId)
  }
  const membership = await findMembershipOf(tx, organizationId, user.id)
  if (membership === undefined && !actor.isSiteAdmin) return undefined
  return {
    holder: {
      kind: 'user',
      id: user.id,
      // Who is a site administrator is for them and for himself to know.
      isSiteAdmin: user.is_site_admin === 1 && (actor.isSiteAdmin || actor.userId === user.id),
      status: membership?.status,
      teams: await teamsOfUsers(tx, organizationId, [user.id]),
    },
    name: user.username ?? user.id,
    userId: user.id,
  }
}

async function findUserNamed(tx: Transaction, text: string): Promise<UserRow | undefined> {
  const id = parseUserId(text)
  const byId = id === undefined ? undefined : await findUser(tx, id)
  return byId ?? findUserByUsername(tx, keyOf(text))
}

function teamSubject(team: TeamRow | undefined, organizationId: string): Subject | undefined {
  if (team === undefined || team.organization_id !== organizationId) return undefined
  return { holder: teamHolder(team), name: team.name, userId: team.service_account_id }
}

/** A team as what its token may do, whether it has one or not. */
export function teamHolder(team: TeamRow): Holder {
  return { kind: 'team', id: team.id, isSiteAdmin: false, status: 'active', teams: [team] }
}
