import * as fc from 'fast-check'
import type { TestServer } from './server.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
} from './world.ts'

const TEAMS = 4
const PLACES = 3

const stateVersions = fc.constantFrom('none', 'read-outputs', 'read', 'write')
const flag = fc.constantFrom('manage-workspaces', 'manage-projects', 'read-workspaces', 'manage-membership')

/** Teams, their grants, and members of up to two of them. */
export const grantsAndMembers = fc.record({
  teams: fc.array(
    fc.record({
      visibility: fc.constantFrom('secret', 'organization'),
      flags: fc.array(flag, { maxLength: 1 }),
    }),
    { minLength: TEAMS, maxLength: TEAMS },
  ),
  onWorkspaces: fc.uniqueArray(
    fc.record({
      team: fc.nat(TEAMS - 1),
      place: fc.nat(PLACES - 1),
      grant: fc.oneof(
        fc.constantFrom('read', 'plan', 'write', 'admin').map((access) => ({ access })),
        fc.record({
          access: fc.constant('custom'),
          'state-versions': stateVersions,
          'workspace-locking': fc.boolean(),
        }),
      ),
    }),
    { selector: ({ team, place }) => `${team} ${place}`, minLength: 1, maxLength: 6 },
  ),
  onProjects: fc.uniqueArray(
    fc.record({
      team: fc.nat(TEAMS - 1),
      place: fc.nat(PLACES - 1),
      grant: fc.oneof(
        fc.constantFrom('read', 'write', 'maintain', 'admin').map((access) => ({ access })),
        fc.record({
          access: fc.constant('custom'),
          'workspace-access': fc.record({
            'state-versions': stateVersions,
            locking: fc.boolean(),
            create: fc.boolean(),
          }),
        }),
      ),
    }),
    { selector: ({ team, place }) => `${team} ${place}`, maxLength: 4 },
  ),
  members: fc.array(fc.uniqueArray(fc.nat(TEAMS - 1), { maxLength: 2 }), { minLength: 3, maxLength: 3 }),
})

export type GrantsAndMembers = typeof grantsAndMembers extends fc.Arbitrary<infer T> ? T : never

/** Custom grants that each give a single right. */
export const leastGrants: GrantsAndMembers = {
  teams: Array.from({ length: TEAMS }, () => ({ visibility: 'secret', flags: [] })),
  onWorkspaces: [
    { team: 0, place: 0, grant: { access: 'custom', 'state-versions': 'none', 'workspace-locking': true } },
    { team: 0, place: 1, grant: { access: 'custom', 'state-versions': 'none', 'workspace-locking': false } },
    ...(['read-outputs', 'read', 'write'] as const).map((states, place) => ({
      team: place,
      place: 2 - place,
      grant: { access: 'custom' as const, 'state-versions': states, 'workspace-locking': false },
    })),
  ],
  onProjects: [
    {
      team: 1,
      place: 0,
      grant: {
        access: 'custom',
        'workspace-access': { 'state-versions': 'none', locking: false, create: true },
      },
    },
    {
      team: 2,
      place: 1,
      grant: {
        access: 'custom',
        'workspace-access': { 'state-versions': 'none', locking: true, create: false },
      },
    },
  ],
  members: [[0], [1], [2]],
}

/** A new organization with these grants: a project with a workspace for each place. */
export async function createGrants(
  server: TestServer,
  { teams, onWorkspaces, onProjects, members }: GrantsAndMembers,
) {
  const organization = await createTestOrganization(server)
  const teamIds: string[] = []
  for (const { visibility, flags } of teams) {
    const access = Object.fromEntries(flags.map((name) => [name, true]))
    teamIds.push(await createTeam(organization, { visibility, 'organization-access': access }))
  }
  const projects: string[] = []
  const workspaces: string[] = []
  for (let place = 0; place < PLACES; place++) {
    const id = await createProject(organization)
    projects.push(id)
    workspaces.push(await createWorkspace(organization, {}, inProject(id)))
  }
  const workspaceGrants = new Map<string, string[]>(workspaces.map((id) => [id, []]))
  for (const { team, place, grant } of onWorkspaces) {
    const workspace = workspaces[place] as string
    const id = await grantWorkspace(organization, teamIds[team] as string, workspace, grant)
    workspaceGrants.get(workspace)?.push(id)
  }
  const projectGrants = new Map<string, string[]>(projects.map((id) => [id, []]))
  for (const { team, place, grant } of onProjects) {
    const project = projects[place] as string
    projectGrants
      .get(project)
      ?.push(await grantProject(organization, teamIds[team] as string, project, grant))
  }
  const people = []
  for (const places of members) {
    people.push(
      await addMember(
        server,
        organization,
        places.map((place) => teamIds[place] as string),
      ),
    )
  }
  return { organization, teamIds, projects, workspaces, workspaceGrants, projectGrants, members: people }
}
