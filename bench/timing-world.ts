// The caller and the targets of bench/timing.ts: many hidden objects, and a guesser with many objects of their own.
import { timestamp, systemClock } from '../src/core/clock.ts'
import { newId } from '../src/core/ids.ts'
import type { Transaction } from '../src/database/database.ts'
import { findMembershipOf } from '../src/organization-memberships/membership-store.ts'
import { bumpVersion, findOrganizationByName } from '../src/organizations/organization-store.ts'
import { teamWorkspaceStore, toColumns } from '../src/team-access/team-workspace-store.ts'
import { changeWorkspaceGrant } from '../src/team-access/workspace-levels.ts'
import { insertTeamMember } from '../src/teams/team-member-store.ts'
import { insertTeam } from '../src/teams/team-store.ts'
import { insertWorkspace } from '../src/workspaces/workspace-store.ts'
import type { AccessWorld } from '../test/support/access-world.ts'
import type { TestServer } from '../test/support/server.ts'
import { addMember, createUser, createWorkspace, uniqueName, type Person } from '../test/support/world.ts'

const MANY = 2_000
const OWN_TEAMS = 3_000
const AT_ONCE = 200

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
  await addTeams(server, ownName, guesser.id, OWN_TEAMS)
  const own = { name: ownName, id: '', owner: guesser }
  const ownWorkspace = await createWorkspace(own, { name: 'own' })
  const memberships = await guesser.client.get(`/organizations/${ownName}/organization-memberships`)
  const ownMembership = memberships.json.data[0].id as string
  // Others have a user in very many teams, a workspace with grants for all of them, and a project full of workspaces.
  const busy = other.members.open
  const teams = await addTeams(server, other.organization.name, busy.id, MANY)
  for (const there of [home, other]) {
    const given = there === other ? teams : await addTeams(server, home.organization.name, undefined, MANY)
    await inParts(server, there.organization.name, given.length, (tx, organizationId, number) =>
      teamWorkspaceStore.insert(tx, {
        id: newId('teamWorkspace'),
        organization_id: organizationId,
        team_id: given[number] as string,
        workspace_id: there.workspaceId,
        ...toColumns(changeWorkspaceGrant(undefined, { access: 'read', details: {} })),
        created_at: timestamp(systemClock.now()),
      }),
    )
  }
  await inParts(server, home.organization.name, MANY, (tx, organizationId, number) =>
    insertWorkspace(tx, workspaceRow(organizationId, home.projectId, `many-${number}`)),
  )
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

async function inParts(
  server: TestServer,
  name: string,
  count: number,
  work: (tx: Transaction, organizationId: string, number: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await server.app.deps.database.write(async (tx) => {
      const organization = await findOrganizationByName(tx, name)
      if (organization === undefined) throw new Error(`there is no organization ${name}`)
      for (let number = from; number < Math.min(count, from + AT_ONCE); number += 1) {
        await work(tx, organization.id, number)
      }
      await bumpVersion(tx, organization.id)
    })
  }
}

/** Creates secret teams and adds the user to each. */
async function addTeams(
  server: TestServer,
  name: string,
  userId: string | undefined,
  count: number,
): Promise<string[]> {
  const at = timestamp(systemClock.now())
  const ids = Array.from({ length: count }, () => newId('team'))
  await inParts(server, name, count, async (tx, organizationId, number) => {
    const id = ids[number] as string
    await insertTeam(tx, {
      id,
      organization_id: organizationId,
      name: `many-${number}`,
      sso_team_id: null,
      visibility: 'secret',
      organization_access: 0,
      allow_member_token_management: 1,
      created_at: at,
      updated_at: at,
    })
    const membership = userId === undefined ? undefined : await findMembershipOf(tx, organizationId, userId)
    if (membership === undefined) return
    await insertTeamMember(tx, {
      team_id: id,
      membership_id: membership.id,
      user_id: membership.user_id,
      organization_id: organizationId,
      is_active: 1,
    })
  })
  return ids
}

function workspaceRow(
  organizationId: string,
  projectId: string,
  name: string,
): Parameters<typeof insertWorkspace>[1] {
  const at = timestamp(systemClock.now())
  return {
    id: newId('workspace'),
    organization_id: organizationId,
    project_id: projectId,
    name,
    description: null,
    terraform_version: 'latest',
    locked_by_id: null,
    locked_by_kind: null,
    lock_reason: null,
    current_state_version_id: null,
    settings: '{}',
    created_at: at,
    updated_at: at,
  }
}
