// Makes many people of an organization, or one in many teams, for the measurements of growth.
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import { bumpVersion } from '../src/organizations/organization-store.ts'
import { addTeamsOfWorkspace, addWorkspace, insertMany, OLD, organizationOf, readGrant } from './bulk.ts'
import type { Organization } from './seed.ts'

export type People = { readonly membershipIds: readonly string[]; readonly userIds: readonly string[] }
export type WithMembers = People & { readonly organization: Organization; readonly workspaceId: string }

/** An organization with this many members, who are all in its last team. That team may read a workspace. */
export async function withMembers(database: Database, count: number): Promise<WithMembers> {
  const organization = await organizationOf(database, `grown-members-${count}`)
  const workspaceId = await addWorkspace(database, organization)
  const people = await addMembers(database, organization, count)
  const teamId = lastTeamOf(organization)
  await insertMany(database, 'team_workspaces', 1, () => readGrant(organization.id, teamId, workspaceId))
  await database.write((tx) => bumpVersion(tx, organization.id))
  return { ...people, organization, workspaceId }
}

export function lastTeamOf({ name, teams }: Organization): string {
  const team = teams.at(-1)
  if (team === undefined) throw new Error(`${name} has no team`)
  return team.id
}

/** Adds this many members, who are all in the last of the first teams. */
export async function addMembers(
  database: Database,
  organization: Organization,
  count: number,
): Promise<People> {
  const teamId = lastTeamOf(organization)
  const people = Array.from({ length: count }, () => ({ id: newId('user'), membership: newId('membership') }))
  const person = (number: number) => people[number] ?? { id: '', membership: '' }
  await insertMany(database, 'users', count, (number) => {
    const username = `${organization.name}-${number}`
    return { id: person(number).id, username, username_key: username, created_at: OLD.created_at }
  })
  await insertMany(database, 'memberships', count, (number) => ({
    id: person(number).membership,
    organization_id: organization.id,
    user_id: person(number).id,
    status: 'active' as const,
    created_at: OLD.created_at,
  }))
  await insertMany(database, 'team_members', count, (number) => ({
    team_id: teamId,
    membership_id: person(number).membership,
    user_id: person(number).id,
    organization_id: organization.id,
    is_active: 1 as const,
  }))
  await database.write(async (tx) => {
    await tx.db.updateTable('teams').set({ users_count: count }).where('id', '=', teamId).execute()
    await bumpVersion(tx, organization.id)
  })
  return { membershipIds: people.map(({ membership }) => membership), userIds: people.map(({ id }) => id) }
}

export type WithTeamsOfPerson = {
  readonly organization: Organization
  readonly workspaceId: string
  readonly teamId: string
}

/**
 * An organization whose member is in this many secret teams more, each of which may read the same workspace. Returns the
 * workspace and one of the teams.
 */
export async function withTeamsOfPerson(database: Database, count: number): Promise<WithTeamsOfPerson> {
  const organization = await organizationOf(database, `teams-of-person-${count}`)
  const { workspaceId, idOf } = await addTeamsOfWorkspace(database, organization, count)
  await insertMany(database, 'team_members', count, (number) => ({
    team_id: idOf(number),
    membership_id: organization.memberMembershipId,
    user_id: organization.member.id,
    organization_id: organization.id,
    is_active: 1 as const,
  }))
  await database.write(
    async (tx) => {
      await tx.db
        .updateTable('teams')
        .set({ users_count: 1 })
        .where('organization_id', '=', organization.id)
        .where('visibility', '=', 'secret')
        .where('users_count', '=', 0)
        .execute()
      await bumpVersion(tx, organization.id)
    },
    { isLong: true },
  )
  return { organization, workspaceId, teamId: idOf(0) }
}
