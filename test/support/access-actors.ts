import type { AccessActor } from './access-world.ts'
import { type Home } from './access-home.ts'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'
import { addMember, createTeam, grantProject, type Person } from './world.ts'

const flagColumns: Readonly<Record<string, string>> = {
  'manage-membership': 'MM',
  'manage-workspaces': 'MW',
  'manage-projects': 'MP',
  'read-workspaces': 'RO',
  'read-projects': 'RO',
  'read-audit': 'AU',
}
/** A flag that is set alone turns on these columns, too. */
const impliedColumns: Readonly<Record<string, readonly string[]>> = {
  'manage-workspaces': ['RO'],
  'manage-projects': ['MW', 'RO'],
}

const impliedFlags: Readonly<Record<string, readonly string[]>> = {
  'manage-workspaces': ['read-workspaces'],
  'manage-projects': ['manage-workspaces', 'read-workspaces'],
  'read-projects': ['read-workspaces'],
}

export function nobody(name: string, code: string, client: Client, home: Home): AccessActor {
  return {
    name,
    code,
    kind: 'nobody',
    isTeamToken: false,
    client,
    home,
    columns: [],
    elsewhere: [],
    teamIds: [],
    flags: [],
  }
}

export function person(
  who: Person,
  name: string,
  code: string,
  home: Home,
  columns: readonly string[],
): AccessActor {
  return {
    ...nobody(name, code, who.client, home),
    kind: 'person',
    userId: who.id,
    columns,
    elsewhere: ['OUT'],
  }
}

export async function memberOfNewTeam(server: TestServer, home: Home, attributes: object) {
  const teamId = await createTeam(home.organization, { visibility: 'organization', ...attributes })
  return { teamId, member: await addMember(server, home.organization, [teamId]) }
}

export async function flagActors(
  server: TestServer,
  home: Home,
  flags: readonly string[],
  delegated: Readonly<Record<string, readonly string[]>> = {},
): Promise<AccessActor[]> {
  const actors: AccessActor[] = []
  for (const [place, flag] of flags.entries()) {
    const { teamId, member } = await memberOfNewTeam(server, home, {
      'organization-access': { [flag]: true },
    })
    const isDelegated = flag in delegated
    const columns = ['PM', flagColumns[flag] ?? [], impliedColumns[flag] ?? [], delegated[flag] ?? []].flat()
    actors.push({
      ...person(
        member,
        `${flag}${isDelegated ? ', delegated' : ''}`,
        `${isDelegated ? 'd' : 'f'}${place + 1}`,
        home,
        columns,
      ),
      membershipId: member.membershipId,
      teamIds: [teamId],
      flags: [flag, ...(impliedFlags[flag] ?? [])],
    })
  }
  return actors
}

/** A delegate who may change every team that they see. */
export async function strongDelegate(server: TestServer, home: Home): Promise<AccessActor> {
  const { teamId, member } = await memberOfNewTeam(server, home, {
    'organization-access': { 'manage-teams': true, 'manage-projects': true },
  })
  return {
    ...person(member, 'manage-teams and manage-projects, delegated', 'd3', home, [
      'PM',
      'MT',
      'MP',
      'MW',
      'RO',
    ]),
    membershipId: member.membershipId,
    teamIds: [teamId],
    flags: ['manage-teams', 'manage-projects', 'manage-workspaces', 'read-workspaces'],
  }
}

/** A delegate who may give the grants of the team `granted`, and has no more flags than that team. */
export async function sharingManager(server: TestServer, home: Home): Promise<AccessActor> {
  const { teamId, member } = await memberOfNewTeam(server, home, {
    'organization-access': { 'manage-membership': true },
  })
  const projectGrantId = await grantProject(home.organization, teamId, home.projectId, { access: 'admin' })
  return {
    ...person(member, 'manage-membership and project admin', 'MMp', home, ['PM', 'MM', 'A', 'project admin']),
    membershipId: member.membershipId,
    teamIds: [teamId],
    flags: ['manage-membership'],
    projectGrantId,
  }
}
