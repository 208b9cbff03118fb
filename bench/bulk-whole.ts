// Makes an organization with many objects of each kind, for the measurements of growth.
import { newId } from '../src/core/ids.ts'
import { systemClock, timestamp } from '../src/core/clock.ts'
import type { Database } from '../src/database/database.ts'
import { insertMembership } from '../src/organization-memberships/membership-store.ts'
import { addMembers, lastTeamOf, type People } from './bulk-people.ts'
import { addProjects, createAdmin } from './bulk-sites.ts'
import { addTag, addTeams, addWorkspaces, insertMany, OLD, organizationOf } from './bulk.ts'
import { createPerson, createSeeded, type Organization, type Person } from './seed.ts'

/** How many objects of a kind a row of writes uses up at each size. The smallest size has some more. */
export const USED = 24

const LATER = '2030-01-01T00:00:00.000Z'

type Invited = { readonly membershipId: string; readonly userId: string; readonly token: string }

export type Whole = People & {
  readonly organization: Organization
  readonly admin: Person
  /** Its members are all members. */
  readonly crowdedTeamId: string
  readonly teamIds: readonly string[]
  readonly projectId: string
  readonly workspaceIds: readonly string[]
  readonly workspaceGrantIds: readonly string[]
  readonly projectIds: readonly string[]
  readonly projectGrantIds: readonly string[]
  /** People who were invited, with the membership that they may accept. Each has a session. */
  readonly invited: readonly Invited[]
  readonly emptyOrganizations: readonly Organization[]
  /** Tokens of the crowded team. */
  readonly tokenIds: readonly string[]
  /** Sessions of the owner. */
  readonly sessionIds: readonly string[]
}

/** An organization with this many teams, workspaces, projects and members more. */
export async function withWhole(database: Database, size: number): Promise<Whole> {
  const organization = await organizationOf(database, `whole-${size}`)
  const crowdedTeamId = lastTeamOf(organization)
  const invited = await invite(database, organization)
  await addSessions(
    database,
    invited.map(({ userId }) => userId),
  )
  return {
    organization,
    crowdedTeamId,
    admin: await createAdmin(database, `admin-of-whole-${size}`),
    teamIds: await addTeams(database, organization.id, size),
    ...(await addMembers(database, organization, size)),
    ...(await addWorkspaces(database, organization, size)),
    ...(await addProjects(database, organization, size)),
    invited,
    emptyOrganizations: await addEmptyOrganizations(database, size),
    tokenIds: await addTokens(database, organization.id, crowdedTeamId),
    sessionIds: await addSessions(
      database,
      Array.from({ length: 2 * USED }, () => organization.owner.id),
    ),
  }
}

function invite(database: Database, { id, name }: Organization): Promise<Invited[]> {
  return database.write(async (tx) => {
    const invited: Invited[] = []
    for (let number = 0; number < USED; number += 1) {
      const person = await createPerson(tx, `${name}-invited-${number}`)
      const membershipId = newId('membership')
      await insertMembership(tx, {
        id: membershipId,
        organization_id: id,
        user_id: person.id,
        status: 'invited',
        invited_email: `${name}-invited-${number}@example.com`,
        created_at: timestamp(systemClock.now()),
      })
      invited.push({ membershipId, userId: person.id, token: person.token })
    }
    return invited
  })
}

async function addEmptyOrganizations(database: Database, size: number): Promise<Organization[]> {
  const made: Organization[] = []
  for (let number = 0; number < USED; number += 1) {
    const name = `empty-${size}-${number}`
    made.push(await createSeeded(database, { name, teams: 1, membersOfTeam: 0, users: 0 }))
  }
  return made
}

async function addTokens(database: Database, organizationId: string, teamId: string): Promise<string[]> {
  const ids = Array.from({ length: USED }, () => newId('token'))
  await insertMany(database, 'authentication_tokens', USED, (number) => ({
    id: ids[number] ?? '',
    hash: ids[number] ?? '',
    kind: 'team' as const,
    team_id: teamId,
    organization_id: organizationId,
    created_at: OLD.created_at,
    expires_at: LATER,
  }))
  return ids
}

/** A session for each of these users. */
async function addSessions(database: Database, userIds: readonly string[]): Promise<string[]> {
  const ids = userIds.map(() => newId('session'))
  const at = timestamp(systemClock.now())
  await insertMany(database, 'sessions', ids.length, (number) => ({
    id: ids[number] ?? '',
    hash: ids[number] ?? '',
    user_id: userIds[number] ?? '',
    user_agent: 'a browser',
    created_at: at,
    last_used_at: at,
    longest_pause_ms: 0,
    expires_at: LATER,
  }))
  return ids
}

/** Adds tags of one workspace each, and returns their ids. */
export async function addTags(
  database: Database,
  { id }: Organization,
  workspaceId: string,
): Promise<string[]> {
  const tagIds: string[] = []
  for (let number = 0; number < USED; number += 1)
    tagIds.push(await addTag(database, id, `tag-${number}`, [workspaceId]))
  return tagIds
}
