import { organizationFlags } from '../../src/access/organization-flags.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'
import {
  flagActors,
  memberOfNewTeam,
  nobody,
  person,
  sharingManager,
  strongDelegate,
} from './access-actors.ts'
import { createHome, type Home } from './access-home.ts'
import {
  addMember,
  createTeam,
  createUser,
  grantProject,
  grantWorkspace,
  invitePerson,
  uniqueName,
} from './world.ts'

export type AccessActor = {
  /** The name in words, and the code for the head of a column. */
  name: string
  code: string
  kind: 'person' | 'team' | 'organization' | 'nobody'
  isTeamToken: boolean
  client: Client
  /** The organization of the caller's own objects. */
  home: Home
  /** The caller's columns in that organization, and in any other. */
  columns: readonly string[]
  elsewhere: readonly string[]
  teamIds: readonly string[]
  /** The flags of all teams of the caller. */
  flags: readonly string[]
  userId?: string
  membershipId?: string
  grantId?: string
  projectGrantId?: string
}

export type AccessWorld = { home: Home; other: Home; actors: AccessActor[] }

const workspaceLevels = [
  ['workspace read', 'Rd', { access: 'read' }, ['R']],
  ['workspace plan', 'Pl', { access: 'plan' }, ['R']],
  ['workspace write', 'Wr', { access: 'write' }, ['W']],
  ['workspace admin', 'Ad', { access: 'admin' }, ['A']],
  ['custom read-outputs', 'cO', { access: 'custom', 'state-versions': 'read-outputs' }, ['cO']],
  ['custom read', 'cR', { access: 'custom', 'state-versions': 'read' }, ['cR']],
  ['custom write', 'cW', { access: 'custom', 'state-versions': 'write' }, ['cW']],
  [
    'custom read-outputs with locking',
    'cL',
    { access: 'custom', 'state-versions': 'read-outputs', 'workspace-locking': true },
    ['cO', 'locking'],
  ],
] as const

const projectLevels = [
  ['project read', 'pR', 'read', ['R']],
  ['project write', 'pW', 'write', ['W']],
  ['project maintain', 'pM', 'maintain', ['A', 'maintain']],
  ['project admin', 'pA', 'admin', ['A', 'project admin']],
] as const

/** Two organizations with objects of every kind, a third with delegated team management, and every kind of caller. */
export async function createAccessWorld(server: TestServer): Promise<AccessWorld> {
  const home = await createHome(server)
  const other = await createHome(server)
  const delegated = await createHome(server)
  await delegated.organization.owner.client.patch(`/organizations/${delegated.organization.name}`, {
    data: { type: 'organizations', attributes: { 'delegated-team-management': true } },
  })
  const actors = [
    ...(await refusedActors(server, home)),
    ...(await ordinaryActors(server, home)),
    ...(await flagActors(server, home, [...organizationFlags.slice(0, 14), 'read-audit'])),
    ...(await flagActors(server, delegated, ['manage-teams', 'manage-organization-access'], {
      'manage-teams': ['MT'],
      'manage-organization-access': ['MO'],
    })),
    await strongDelegate(server, delegated),
    await sharingManager(server, home),
    ...(await levelActors(server, home)),
    ...(await tokenActors(server, home)),
    {
      ...person(other.organization.owner, 'owner of another organization', 'XO', home, ['OUT']),
      elsewhere: ['OW', 'PM'],
    },
    {
      ...nobody('site administrator', 'SA', server.admin, home),
      kind: 'person' as const,
      columns: ['SA', 'OUT'],
      elsewhere: ['SA', 'OUT'],
    },
  ]
  return { home, other, actors }
}

async function refusedActors(server: TestServer, home: Home): Promise<AccessActor[]> {
  const [revoked, suspended] = [await createUser(server, 'revoked'), await createUser(server, 'suspended')]
  const late = await createUser(server, 'late')
  // One hour ahead of the server's clock, which is then moved by two hours.
  const soon = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
  const token = await late.client.post(`/users/${late.id}/authentication-tokens`, {
    data: { type: 'authentication-tokens', attributes: { 'expired-at': soon } },
  })
  const expired = server.client(token.json.data.attributes.token)
  server.clock.advance(7_200_000)
  const list = await revoked.client.get(`/users/${revoked.id}/authentication-tokens`)
  await revoked.client.delete(`/authentication-tokens/${list.json.data[0].id}`)
  await server.admin.post(`/admin/users/${suspended.id}/actions/suspend`)
  return [
    nobody('no token', 'no', server.client(), home),
    nobody('bad token', 'bad', server.client('not-a-token-of-anyone'), home),
    nobody('expired token', 'exp', expired, home),
    nobody('revoked token', 'rev', revoked.client, home),
    nobody("suspended user's token", 'sus', suspended.client, home),
  ]
}

async function ordinaryActors(server: TestServer, home: Home): Promise<AccessActor[]> {
  const { organization } = home
  const invited = await createUser(server, 'invited')
  const invitedId = await invitePerson(organization, invited)
  const member = await addMember(server, organization)
  const inSecret = await addMember(server, organization, [home.teams.secret.id])
  return [
    person(await createUser(server, 'outsider'), 'outsider', 'OUT', home, ['OUT']),
    { ...person(invited, 'invited', 'INV', home, ['IN']), membershipId: invitedId },
    { ...person(member, 'member', 'MEM', home, ['PM']), membershipId: member.membershipId },
    {
      ...person(inSecret, 'member of the secret team', 'SEC', home, ['PM', 'R']),
      membershipId: inSecret.membershipId,
      teamIds: [home.teams.secret.id],
    },
    {
      ...person(organization.owner, 'owner', 'OWN', home, ['OW', 'PM']),
      membershipId: home.ownerMembershipId,
      teamIds: [home.teams.owners.id],
    },
  ]
}

async function levelActors(server: TestServer, home: Home): Promise<AccessActor[]> {
  const actors: AccessActor[] = []
  for (const [name, code, attributes, columns] of workspaceLevels) {
    const { teamId, member } = await memberOfNewTeam(server, home, {})
    const grantId = await grantWorkspace(home.organization, teamId, home.workspaceId, attributes)
    actors.push({
      ...person(member, name, code, home, ['PM', ...columns]),
      membershipId: member.membershipId,
      teamIds: [teamId],
      grantId,
    })
  }
  for (const [name, code, access, columns] of projectLevels) {
    const { teamId, member } = await memberOfNewTeam(server, home, {})
    const grantId = await grantProject(home.organization, teamId, home.projectId, { access })
    actors.push({
      ...person(member, name, code, home, ['PM', ...columns]),
      membershipId: member.membershipId,
      teamIds: [teamId],
      projectGrantId: grantId,
    })
  }
  return actors
}

async function tokenActors(server: TestServer, home: Home): Promise<AccessActor[]> {
  const { client } = home.organization.owner
  const tokenOf = async (path: string) => {
    const attributes = path.endsWith('s') ? { description: uniqueName('token') } : {}
    const answer = await client.post(path, { data: { type: 'authentication-tokens', attributes } })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    // An organization has only one token, so the new token is now the one to ask about.
    if (path.startsWith('/organizations') && !path.includes('?'))
      home.tokens.organization = answer.json.data.id
    return server.client(answer.json.data.attributes.token)
  }
  const plain = await createTeam(home.organization, { visibility: 'organization' })
  const flagged = await createTeam(home.organization, {
    visibility: 'organization',
    'organization-access': { 'manage-membership': true, 'read-workspaces': true },
  })
  const team = async (
    id: string,
    name: string,
    code: string,
    columns: string[],
    flags: string[] = [],
  ): Promise<AccessActor> => ({
    ...nobody(name, code, await tokenOf(`/teams/${id}/authentication-tokens`), home),
    kind: 'team',
    isTeamToken: true,
    columns,
    elsewhere: ['OUT'],
    teamIds: [id],
    flags,
  })
  return [
    await team(plain, 'team token', 'TT', ['TT']),
    await team(
      flagged,
      'token of a team with manage-membership and read-workspaces',
      'TTf',
      ['TT', 'MM', 'RO'],
      ['manage-membership', 'read-workspaces'],
    ),
    await team(home.teams.owners.id, 'owners team token', 'OTT', ['OW', 'TT']),
    {
      ...nobody(
        'organization token',
        'OT',
        await tokenOf(`/organizations/${home.organization.name}/authentication-token`),
        home,
      ),
      kind: 'organization',
      columns: ['OG'],
      elsewhere: [],
    },
    {
      ...nobody(
        'audit-trails token',
        'AT',
        await tokenOf(`/organizations/${home.organization.name}/authentication-token?token=audit-trails`),
        home,
      ),
      kind: 'organization',
      columns: ['AT'],
      elsewhere: [],
    },
  ]
}
