import type { Actor } from '../access/actor.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { findMembershipOf } from '../organization-memberships/membership-store.ts'
import { findTeam, findTeamOfServiceAccount, type TeamRow } from '../teams/team-store.ts'
import { findUser, findUserByUsername, type UserRow } from '../users/user-store.ts'
import { keyOf, parseUserId } from '../users/users.ts'
import { teamsOfUsers } from './holdings-store.ts'
import type { Holder } from './holdings.ts'

/** Who is asked about: somebody by id or user name, or a team by its id. */
export type SubjectAddress = { readonly user: string } | { readonly team: string }

/** With the user as whom they or the team's token call; what they are is read later, since it may be much. */
export type Subject = {
  readonly name: string
  readonly userId: string | null
  readonly holder: (tx: Transaction) => Promise<Holder>
}

type Asking = Pick<Actor, 'isSiteAdmin' | 'userId'>

/** Undefined for whoever does not belong to the organization. A service account is its team. */
export async function findSubject(
  tx: Transaction,
  organizationId: string,
  address: SubjectAddress,
  actor: Asking,
): Promise<Subject | undefined> {
  if ('team' in address) {
    return teamSubject(await findTeam(tx, parseId('team', address.team) ?? NO_ID), organizationId)
  }
  const user = await findUserNamed(tx, address.user)
  const isServiceAccount = user?.is_service_account === 1
  const team = await findTeamOfServiceAccount(tx, isServiceAccount ? user.id : NO_ID)
  const membership = await findMembershipOf(tx, organizationId, user?.id ?? NO_ID)
  if (isServiceAccount) return teamSubject(team, organizationId)
  // Before somebody has accepted nobody learns who was invited.
  if (user === undefined || (membership?.status !== 'active' && !actor.isSiteAdmin)) return undefined
  return {
    name: user.username ?? user.id,
    userId: user.id,
    holder: async (reading) => ({
      kind: 'user',
      id: user.id,
      // Who is a site administrator is for them and for themselves to know.
      isSiteAdmin: user.is_site_admin === 1 && (actor.isSiteAdmin || actor.userId === user.id),
      status: membership?.status,
      teams: await teamsOfUsers(reading, organizationId, [user.id]),
    }),
  }
}

/** Both are looked for, whichever is found. An id comes first. */
async function findUserNamed(tx: Transaction, text: string): Promise<UserRow | undefined> {
  const byId = await findUser(tx, parseUserId(text) ?? NO_ID)
  const byName = await findUserByUsername(tx, keyOf(text))
  return byId ?? byName
}

function teamSubject(team: TeamRow | undefined, organizationId: string): Subject | undefined {
  if (team === undefined || team.organization_id !== organizationId) return undefined
  return { name: team.name, userId: team.service_account_id, holder: () => Promise.resolve(teamHolder(team)) }
}

/** A team as what its token may do, whether it has one or not. */
export function teamHolder(team: TeamRow): Holder {
  return { kind: 'team', id: team.id, isSiteAdmin: false, status: 'active', teams: [team] }
}
