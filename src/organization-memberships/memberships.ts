import { isPermitted } from '../access/decide.ts'
import { judgedTeams } from '../access/delegation-store.ts'
import { timestamp } from '../core/clock.ts'
import { invalidBy, type Problem } from '../core/errors.ts'
import { NO_ID } from '../core/ids.ts'
import { emailSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import type { Viewer } from '../http/route.ts'
import { besideTakenName, toMany } from '../jsonapi/body.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { insertTeamMember } from '../teams/team-member-store.ts'
import { tooManyMembers } from '../teams/team-members.ts'
import { findTeams, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { findUserByEmail, insertUser, lockUser, type UserRow } from '../users/user-store.ts'
import { keyOf, noAccount } from '../users/users.ts'
import { countMemberships, findMembershipOf, insertMembership } from './membership-store.ts'

const MAX_TEAMS = 100
const TEAMS = '/data/relationships/teams/data'

export const invitationBody = {
  type: 'organization-memberships',
  attributes: { email: emailSchema },
  ignored: ['created-at', 'is-org-two-factor-required', 'status'],
  required: ['email'] as const,
  relationships: { teams: toMany('teams', MAX_TEAMS) },
}

type Inviting = Viewer & { readonly resource: { readonly organization: OrganizationRow } }

const EMAIL_IS_TAKEN: Problem = {
  detail: 'email is already used by a member or an invitation of this organization',
  pointer: '/data/attributes/email',
}

/** The teams of an invitation. Adds to `problems` what only the database shows. */
export async function checkInvitation(
  context: Inviting,
  email: string | undefined,
  teamIds: readonly string[],
  problems: Problem[],
): Promise<readonly TeamRow[]> {
  const { tx, deps, resource } = context
  const { organization } = resource
  const { maxMembers } = deps.config
  const teams = await invitedInto(context, teamIds, problems)
  for (const team of teams) problems.push(...(await tooManyMembers(tx, team, 1, deps.config)))
  if ((await countMemberships(tx, organization.id)) >= maxMembers) {
    problems.push({
      detail: `an organization may have at most ${maxMembers} members (PURSER_MAX_MEMBERS)`,
      pointer: '/data',
    })
  }
  await besideTakenName(problems, EMAIL_IS_TAKEN, email, async (taken) => {
    const user = await findUserByEmail(tx, keyOf(taken))
    return findMembershipOf(tx, organization.id, user?.id ?? NO_ID)
  })
  return teams
}

/** Creates an invitation, and a user if the email is new. Returns the membership's id. */
export async function invite(context: Inviting, email: string, teams: readonly TeamRow[]): Promise<string> {
  const { tx, deps } = context
  const { organization } = context.resource
  const user = await findOrMakeUser(tx, deps, email)
  if ((await findMembershipOf(tx, organization.id, user.id)) !== undefined) throw invalidBy(EMAIL_IS_TAKEN)
  const id = deps.newId('membership')
  await insertMembership(tx, {
    id,
    organization_id: organization.id,
    user_id: user.id,
    status: 'invited',
    invited_email: email,
    created_at: timestamp(deps.clock.now()),
  })
  for (const team of teams) {
    await insertTeamMember(tx, {
      team_id: team.id,
      membership_id: id,
      user_id: user.id,
      organization_id: organization.id,
      is_active: 0,
    })
  }
  return id
}

/**
 * The teams with these ids, if the caller may change their members: an invitation into a team counts as adding a
 * member. Adds a problem for any other id, with the same text as for a missing team.
 */
async function invitedInto(
  context: Inviting,
  teamIds: readonly string[],
  problems: Problem[],
): Promise<TeamRow[]> {
  const { tx, actor, standing, resource } = context
  const found = await findTeams(tx, resource.organization.id, teamIds)
  const judged = await judgedTeams(tx, context, found.map(teamFacts))
  const permittedIds = new Set(
    judged
      .filter((team) => isPermitted('team:update-members', actor, standing, { team }))
      .map(({ id }) => id),
  )
  teamIds.forEach((id, place) => {
    if (permittedIds.has(id)) return
    problems.push({
      detail: 'id does not name a team that the caller may invite into',
      pointer: `${TEAMS}/${place}/id`,
    })
  })
  return found.filter(({ id }) => permittedIds.has(id))
}

async function findOrMakeUser(tx: Transaction, deps: Deps, email: string): Promise<UserRow> {
  const key = keyOf(email)
  for (;;) {
    const found = await findUserByEmail(tx, key)
    const user = found === undefined ? undefined : await lockUser(tx, found.id)
    if (user !== undefined) return user
    const id = deps.newId('user')
    const created_at = timestamp(deps.clock.now())
    await insertUser(tx, { ...noAccount, id, email, email_key: key, created_at })
  }
}
