import type { Actor } from '../access/actor.ts'
import { isPermitted, type Standing } from '../access/decide.ts'
import { judgedTeams } from '../access/delegation-store.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid } from '../core/errors.ts'
import { emailSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { toMany } from '../jsonapi/body.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { insertTeamMembers } from '../teams/team-member-store.ts'
import { checkMemberLimit } from '../teams/team-members.ts'
import { findTeams, teamFacts, type TeamRow } from '../teams/team-store.ts'
import { findUserByEmail, insertUser, lockUser, type UserRow } from '../users/user-store.ts'
import { keyOf } from '../users/users.ts'
import { countMemberships, findMembershipOf, insertMembership } from './membership-store.ts'

const MAX_TEAMS = 100
const TEAMS = '/data/relationships/teams/data'

export const invitationBody = {
  type: 'organization-memberships',
  attributes: { email: emailSchema },
  required: ['email'] as const,
  relationships: { teams: toMany('teams', MAX_TEAMS) },
}

type Inviting = {
  tx: Transaction
  deps: Deps
  actor: Actor
  standing: Standing
  resource: { organization: OrganizationRow }
}

/** Creates an invitation, and a user if the email is new. Returns the membership's id. */
export async function invite(context: Inviting, email: string, teamIds: readonly string[]): Promise<string> {
  const { tx, deps } = context
  const { organization } = context.resource
  const teams = await invitedInto(context, teamIds)
  if ((await countMemberships(tx, organization.id)) >= deps.config.maxMembers) {
    throw invalid(
      `an organization may have at most ${deps.config.maxMembers} members (PURSER_MAX_MEMBERS)`,
      '/data',
    )
  }
  const user = await findOrMakeUser(tx, deps, email)
  if ((await findMembershipOf(tx, organization.id, user.id)) !== undefined) {
    throw invalid(
      'email is already used by a member or an invitation of this organization',
      '/data/attributes/email',
    )
  }
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
    await checkMemberLimit(tx, team, 1, deps.config)
    await insertTeamMembers(tx, team.id, [
      {
        team_id: team.id,
        membership_id: id,
        user_id: user.id,
        organization_id: organization.id,
        is_active: 0,
      },
    ])
  }
  return id
}

/**
 * The teams with these ids, if the caller may change their members: an invitation into a team counts as adding a
 * member. Throws 422 for any other id, with the same text as for a missing team.
 */
async function invitedInto(context: Inviting, teamIds: readonly string[]): Promise<TeamRow[]> {
  const { tx, actor, standing, resource } = context
  const found = await findTeams(tx, resource.organization.id, teamIds)
  const judged = await judgedTeams(tx, context, found.map(teamFacts))
  const permittedIds = new Set(
    judged
      .filter((team) => isPermitted('team:update-members', actor, standing, { team }))
      .map(({ id }) => id),
  )
  const problems = teamIds.flatMap((id, place) =>
    permittedIds.has(id)
      ? []
      : [
          {
            detail: 'id does not name a team that the caller may invite into',
            pointer: `${TEAMS}/${place}/id`,
          },
        ],
  )
  if (problems.length > 0) throw new AppError('invalid', problems)
  return found
}

async function findOrMakeUser(tx: Transaction, deps: Deps, email: string): Promise<UserRow> {
  const key = keyOf(email)
  for (;;) {
    const found = await findUserByEmail(tx, key)
    const user = found === undefined ? undefined : await lockUser(tx, found.id)
    if (user !== undefined) return user
    const id = deps.newId('user')
    await insertUser(tx, {
      id,
      username: null,
      username_key: null,
      email,
      email_key: key,
      password_hash: null,
      created_at: timestamp(deps.clock.now()),
    })
  }
}
