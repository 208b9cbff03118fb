import type { Actor } from '../access/actor.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { findMembershipOf } from '../organization-memberships/membership-store.ts'
import { findTeam, findTeamOfServiceAccount, type HoldingTeam, type TeamRow } from '../teams/team-store.ts'
import { findUser, findUserByUsername, type UserRow } from '../users/user-store.ts'
import { keyOf, parseUserId } from '../users/users.ts'
import { countTeamsOfUser, teamsOfUsers } from './holdings-store.ts'
import type { Holder } from './holdings.ts'

/** The user or team that the question is about: a user by id or user name, or a team by id. */
export type SubjectAddress = { readonly user: string } | { readonly team: string }

/** `userId` is the user that they, or the team's token, act as. `holder` is read later, because it may be large. */
type Subject = {
  readonly userId: string | null
  readonly holder: (tx: Transaction) => Promise<Holder>
  readonly countTeams: (tx: Transaction) => Promise<number>
}

type Asking = Pick<Actor, 'isSiteAdmin' | 'userId'>

/** Undefined if the subject does not belong to the organization. A service account means its team. */
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
  // Until an invitation is accepted, only site administrators may know who was invited.
  if (user === undefined || (membership?.status !== 'active' && !actor.isSiteAdmin)) return undefined
  return {
    userId: user.id,
    holder: async (reading) => ({
      kind: 'user',
      id: user.id,
      // Only site administrators and the user may know that the user is a site administrator.
      isSiteAdmin: user.is_site_admin === 1 && (actor.isSiteAdmin || actor.userId === user.id),
      status: membership?.status,
      teams: await teamsOfUsers(reading, organizationId, [user.id]),
    }),
    countTeams: (reading) => countTeamsOfUser(reading, organizationId, user.id),
  }
}

/** An id is never a name. Both queries always run, so that the time reveals nothing. */
async function findUserNamed(tx: Transaction, text: string): Promise<UserRow | undefined> {
  const id = parseUserId(text)
  const byId = await findUser(tx, id ?? NO_ID)
  const byName = await findUserByUsername(tx, keyOf(text))
  return id === undefined ? byName : byId
}

function teamSubject(team: TeamRow | undefined, organizationId: string): Subject | undefined {
  if (team === undefined || team.organization_id !== organizationId) return undefined
  return {
    userId: team.service_account_id,
    holder: () => Promise.resolve(teamHolder(team)),
    countTeams: () => Promise.resolve(1),
  }
}

/** The access of a team's token, whether the team has a token or not. */
export function teamHolder(team: HoldingTeam): Holder {
  return { kind: 'team', id: team.id, isSiteAdmin: false, status: 'active', teams: [team] }
}
