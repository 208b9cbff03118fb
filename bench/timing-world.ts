// The caller and the targets of bench/timing.ts: many hidden objects, and a guesser with many objects of their own.
import { existing } from '../src/core/existing.ts'
import { newId } from '../src/core/ids.ts'
import type { Database } from '../src/database/database.ts'
import { findMembershipOf } from '../src/organization-memberships/membership-store.ts'
import { bumpVersion, findOrganizationByName } from '../src/organizations/organization-store.ts'
import type { AccessWorld } from '../test/support/access-world.ts'
import type { TestServer } from '../test/support/server.ts'
import { addMember, createUser, createWorkspace, uniqueName, type Person } from '../test/support/world.ts'
import { addTeams, insertMany, readGrant, workspaceRow } from './bulk.ts'

const MANY = 2_000
const OWN_TEAMS = 3_000

export type Case = {
  name: string
  method?: 'POST'
  /** The paths of a hidden and a missing object, or the request bodies for one path. */
  hidden: string
  missing: string
  bodies?: { hidden: object; missing: object }
  /** A path of the guesser's own, requested before the probes. Its answer is as large as the same route gives. */
  own: string
}

const usernameOf = async (server: TestServer, id: string): Promise<string> =>
  (await server.admin.get(`/users/${id}`)).json.data.attributes.username

/** The guesser owns an organization, is in very many of its teams, and is a plain member of the world's one. */
export async function createCases(
  server: TestServer,
  { home, other }: AccessWorld,
): Promise<{ guesser: Person; cases: Case[] }> {
  const guesser = await addMember(server, home.organization)
  const ownName = uniqueName('own')
  await guesser.client.post('/organizations', {
    data: { type: 'organizations', attributes: { name: ownName, email: 'g@example.com' } },
  })
  const { database } = server.app.deps
  await addTeamsOf(database, await idOf(database, ownName), guesser.id, OWN_TEAMS)
  const own = { name: ownName, id: '', owner: guesser }
  const ownWorkspace = await createWorkspace(own, { name: 'own' })
  const memberships = await guesser.client.get(`/organizations/${ownName}/organization-memberships`)
  const ownMembership = memberships.json.data[0].id as string
  // Others have a user in very many teams, a workspace with grants for all of them, and a project full of workspaces.
  const busy = other.members.open
  const otherId = await idOf(database, other.organization.name)
  const homeId = await idOf(database, home.organization.name)
  const otherTeams = await addTeamsOf(database, otherId, busy.id, MANY)
  const homeTeams = await addTeams(database, homeId, MANY)
  await insertMany(database, 'team_workspaces', MANY, (number) =>
    readGrant(otherId, otherTeams[number] ?? '', other.workspaceId),
  )
  await insertMany(database, 'team_workspaces', MANY, (number) =>
    readGrant(homeId, homeTeams[number] ?? '', home.workspaceId),
  )
  await insertMany(database, 'workspaces', MANY, (number) =>
    workspaceRow(homeId, home.projectId, newId('workspace'), `many-${number}`),
  )
  for (const id of [otherId, homeId]) await database.write((tx) => bumpVersion(tx, id))
  const stranger = await createUser(server)
  const ownTeam = (await guesser.client.get(`/organizations/${ownName}/teams?page[size]=1`)).json.data[0].id
  const users = (id: string) => ({ data: [{ type: 'users', id }] })
  const inHome = `/organizations/${home.organization.name}`
  const access = `${inHome}/effective-access`
  const self = `user=${guesser.id}`
  const cases: Case[] = [
    pair('user', '/users/', busy.id, 'user-zzzzzzzzzzzzzzzz', guesser.id),
    pair('membership', '/organization-memberships/', busy.membershipId, 'ou-zzzzzzzzzzzzzzzz', ownMembership),
    pair('organization', '/organizations/', other.organization.name, 'no-such-organization', ownName),
    pair('workspace', '/workspaces/', home.workspaceId, 'ws-zzzzzzzzzzzzzzzz', ownWorkspace),
    {
      name: 'workspace by name, in one’s organization',
      hidden: `${inHome}/workspaces/${home.workspaceName}`,
      missing: `${inHome}/workspaces/no-such-workspace`,
      own: `/organizations/${ownName}/workspaces/own`,
    },
    {
      name: 'workspace by name, elsewhere',
      hidden: `/organizations/${other.organization.name}/workspaces/${other.workspaceName}`,
      missing: `/organizations/${other.organization.name}/workspaces/no-such-workspace`,
      own: `/organizations/${ownName}/workspaces/own`,
    },
    pair('project', '/projects/', home.projectId, 'prj-zzzzzzzzzzzzzzzz', 'prj-zzzzzzzzzzzzzzzz'),
    pair(
      'state version',
      '/state-versions/',
      home.stateVersions.current,
      'sv-zzzzzzzzzzzzzzzz',
      'sv-zzzzzzzzzzzzzzzz',
    ),
    pair('team', '/teams/', home.teams.secret.id, 'team-zzzzzzzzzzzzzzzz', ownTeam),
    pair(
      'token',
      '/authentication-tokens/',
      home.tokens.secretTeam,
      'at-zzzzzzzzzzzzzzzz',
      'at-zzzzzzzzzzzzzzzz',
    ),
    {
      name: 'effective access to a workspace by name',
      hidden: `${access}?${self}&workspace=${home.workspaceName}`,
      missing: `${access}?${self}&workspace=no-such-workspace`,
      own: `/organizations/${ownName}/effective-access?${self}&workspace=own`,
    },
    {
      name: 'effective access of a user by name',
      hidden: `${access}?user=${await usernameOf(server, busy.id)}`,
      missing: `${access}?user=nobody-is-called-so`,
      own: `/organizations/${ownName}/effective-access?${self}&workspace=own`,
    },
    {
      name: 'user name of a new team member (422)',
      method: 'POST',
      hidden: `/teams/${ownTeam}/relationships/users`,
      missing: `/teams/${ownTeam}/relationships/users`,
      bodies: { hidden: users(await usernameOf(server, stranger.id)), missing: users('nobody-is-called-so') },
      own: `/organizations/${ownName}/teams?page[size]=100`,
    },
  ]
  return { guesser, cases }
}

function pair(name: string, path: string, hidden: string, missing: string, own: string): Case {
  return { name, hidden: path + hidden, missing: path + missing, own: path + own }
}

async function idOf(database: Database, name: string): Promise<string> {
  return existing(await database.read((tx) => findOrganizationByName(tx, name))).id
}

/** Creates secret teams, and adds the user to each. */
async function addTeamsOf(
  database: Database,
  organizationId: string,
  userId: string,
  count: number,
): Promise<string[]> {
  const teams = await addTeams(database, organizationId, count)
  const membership = existing(await database.read((tx) => findMembershipOf(tx, organizationId, userId)))
  await insertMany(database, 'team_members', count, (number) => ({
    team_id: teams[number] ?? '',
    membership_id: membership.id,
    user_id: userId,
    organization_id: organizationId,
    is_active: 1 as const,
  }))
  await database.write((tx) => bumpVersion(tx, organizationId))
  return teams
}
