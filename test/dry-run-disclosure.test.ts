import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { NOT_FOUND, type Client } from './support/client.ts'
import { changesOf } from './support/dry-runs.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createGrants, grantsAndMembers, leastGrants } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import type { TestServer } from './support/server.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantBody,
  grantProject,
  grantWorkspace,
  inProject,
  uniqueName,
  type Member,
  type TestOrganization,
} from './support/world.ts'

type World = Awaited<ReturnType<typeof createGrants>>
type Kind = 'workspace' | 'project'

async function addToTeam({ owner }: TestOrganization, team: string, members: readonly Member[]) {
  const data = members.map(({ membershipId }) => ({ type: 'organization-memberships', id: membershipId }))
  await owner.client.post(`/teams/${team}/relationships/organization-memberships`, { data })
}

/**
 * Adds a caller who administers one workspace or project, and who sees two teams. The first one has a grant there, and
 * the second one has none.
 */
async function addAdministrator(server: TestServer, { organization, ...world }: World, kind: Kind) {
  const place = (kind === 'workspace' ? world.workspaces : world.projects)[0] as string
  const grantPlace = kind === 'workspace' ? grantWorkspace : grantProject
  const administrators = await createTeam(organization)
  await grantPlace(organization, administrators, place, { access: 'admin' })
  // So that the caller can move a workspace there.
  await grantProject(organization, administrators, world.projects[1] as string, { access: 'maintain' })
  const caller = await addMember(server, organization, [administrators])
  const withGrant = await createTeam(organization, { visibility: 'organization' })
  await addToTeam(organization, withGrant, world.members.slice(0, 2))
  const withoutGrant = await createTeam(organization, { visibility: 'organization' })
  await addToTeam(organization, withoutGrant, world.members.slice(0, 1))
  const grant = await grantPlace(organization, withGrant, place, { access: 'read' })
  return { caller, grant, withoutGrant }
}

/** Adds access that the caller cannot see: a secret team with access to everything, grants, and a workspace. */
async function addHiddenAccess(
  { organization, teamIds, projects, workspaces, members }: World,
  kind: Kind,
  visibleTeam: string,
) {
  const [project, other, last] = projects as [string, string, string]
  const flags = { 'manage-projects': true }
  const secret = await createTeam(organization, { 'organization-access': flags })
  await addToTeam(organization, secret, members)
  await grantWorkspace(organization, secret, workspaces[0] as string, { access: 'admin' })
  await grantProject(organization, secret, project, { access: 'admin' })
  // The administrator of a workspace sees no grants on its project, even those of a visible team.
  if (kind === 'workspace') await grantProject(organization, visibleTeam, project, { access: 'admin' })
  // The team may have a grant on that project already.
  await grantProject(organization, teamIds[0] as string, last, { access: 'admin' }).catch(() => undefined)
  await createWorkspace(organization, {}, inProject(other))
  for (const team of [secret, visibleTeam]) {
    await grantProject(organization, team, other, { access: 'admin' })
  }
}

onEachEngine('the answer to a dry run', (server) => {
  test(
    'is the same for an administrator of one place, before and after hidden access is added',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, fc.constantFrom('workspace', 'project'), async (random, kind) => {
          const world = await createGrants(server, random)
          const { caller, grant, withoutGrant } = await addAdministrator(server, world, kind)
          const path = `/team-${kind}s/${grant}?dry-run=true`
          const ofWorkspace = `/workspaces/${world.workspaces[0]}?dry-run=true`
          const moved = body('workspaces', {}, inProject(world.projects[1]))
          const answers = async () => ({
            update: (await caller.client.patch(path, body(`team-${kind}s`, { access: 'write' }))).text,
            delete: (await caller.client.delete(path)).text,
            move: (await caller.client.patch(ofWorkspace, moved)).text,
            end: (await caller.client.delete(ofWorkspace)).text,
          })
          const before = await answers()
          for (const answer of Object.values(before)) expect(answer).toContain('"type":"access-changes"')
          await addHiddenAccess(world, kind, withoutGrant)
          expect(await answers()).toEqual(before)
        }),
        // Without shrinking after a failure: a smaller world takes as long to create.
        {
          ...runs(2, 60),
          endOnFailure: true,
          examples: [
            [leastGrants, 'workspace'],
            [leastGrants, 'project'],
          ],
        },
      )
    },
    longTimeout * 3,
  )

  describe('about a grant on a workspace', () => {
    /**
     * The member administers the workspace by a secret team, and its project by a visible team. The administrator of
     * the workspace sees neither of these grants.
     */
    const createSharedWorkspace = async () => {
      const organization = await createTestOrganization(server)
      const project = await createProject(organization)
      const workspace = await createWorkspace(organization, {}, inProject(project))
      const open = await createTeam(organization, { visibility: 'organization' })
      const visible = await createTeam(organization, { visibility: 'organization' })
      const secret = await createTeam(organization)
      const administrators = await createTeam(organization, { visibility: 'organization' })
      await grantWorkspace(organization, administrators, workspace, { access: 'admin' })
      const administrator = await addMember(server, organization, [administrators])
      const member = await addMember(server, organization, [open, visible, secret])
      await grantWorkspace(organization, secret, workspace, { access: 'admin' })
      await grantProject(organization, visible, project, { access: 'admin' })
      return { organization, workspace, open, visible, administrator, member }
    }
    type SharedWorkspace = Awaited<ReturnType<typeof createSharedWorkspace>>

    /** The member's level before the team `open` gets a grant, if the grant changes it. */
    const levelBefore = async ({ client }: { client: Client }, shared: SharedWorkspace) => {
      const grant = grantBody(shared.open, 'workspace', shared.workspace, { access: 'read' })
      const changes = changesOf(await client.post('/team-workspaces?dry-run=true', grant))
      return changes.find(({ who }) => who.id === shared.member.id)?.from
    }

    test('counts every grant for an owner', async () => {
      const shared = await createSharedWorkspace()
      expect(await levelBefore(shared.organization.owner, shared)).toBeUndefined()
    })

    test('counts no grant that is hidden from an administrator of the workspace', async () => {
      const shared = await createSharedWorkspace()
      expect(await levelBefore(shared.administrator, shared)).toBe('none')
    })

    test('counts a visible grant for an administrator of the workspace', async () => {
      const shared = await createSharedWorkspace()
      await grantWorkspace(shared.organization, shared.visible, shared.workspace, { access: 'write' })
      expect(await levelBefore(shared.administrator, shared)).toBeUndefined()
    })
  })

  describe('to a manager of memberships', () => {
    let organization: TestOrganization
    let manager: Member
    let joining: object
    let withGrant: string
    let withoutGrant: string
    const membersOf = (team: string) => `/teams/${team}/relationships/users?dry-run=true`
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      const flags = { 'organization-access': { 'manage-membership': true } }
      manager = await addMember(server, organization, [await createTeam(organization, flags)])
      const project = await createProject(organization)
      const workspace = await createWorkspace(organization, {}, inProject(project))
      const administrators = await createTeam(organization, { visibility: 'organization' })
      await grantWorkspace(organization, administrators, workspace, { access: 'admin' })
      const { id } = await addMember(server, organization, [administrators])
      joining = { data: [{ type: 'users', id }] }
      withGrant = await createTeam(organization, { visibility: 'organization' })
      withoutGrant = await createTeam(organization, { visibility: 'organization' })
      await grantProject(organization, withGrant, project, { access: 'admin' })
      await grantWorkspace(organization, withGrant, workspace, { access: 'write' })
    })

    test('is 404 if somebody joins a team with more access than the manager', async () => {
      expect((await manager.client.post(membersOf(withGrant), joining)).text).toBe(NOT_FOUND)
    })

    test('has no changes and counts no places if somebody joins a team without access', async () => {
      const answer = await manager.client.post(membersOf(withoutGrant), joining)
      expect(changesOf(answer)).toEqual([])
      expect(answer.json.data.attributes['places-count']).toBe(0)
    })

    test('has changes for an owner if somebody joins the team with more access', async () => {
      const answer = await organization.owner.client.post(membersOf(withGrant), joining)
      expect(changesOf(answer).length).toBeGreaterThan(0)
    })
  })

  describe('about a new name of a team', () => {
    const taken = uniqueName('hidden')
    let owner: Client
    /** A manager of teams who does not see all teams. */
    let manager: Client
    let path: string
    beforeAll(async () => {
      const organization = await createTestOrganization(server, { 'delegated-team-management': true })
      owner = organization.owner.client
      await createTeam(organization, { name: taken })
      path = `/teams/${await createTeam(organization, { visibility: 'organization' })}`
      const flags = { 'organization-access': { 'manage-teams': true } }
      const managers = await createTeam(organization, flags)
      manager = (await addMember(server, organization, [managers])).client
    })

    const tryName = (caller: Client, name: string) =>
      caller.patch(`${path}?dry-run=true`, body('teams', { name }))

    test('is the same 400 for a taken and a free name, for callers who do not see all teams', async () => {
      const ofTaken = await tryName(manager, taken)
      const ofFree = await tryName(manager, uniqueName('free'))
      expect(ofTaken.status).toBe(400)
      expect(ofTaken.json.errors[0].detail).toContain('see all teams')
      expect(ofFree.status).toBe(400)
      expect(ofFree.text).toBe(ofTaken.text)
    })

    test('is 200 for these callers without a name', async () => {
      const update = body('teams', { 'sso-team-id': 'sso' })
      expect((await manager.patch(`${path}?dry-run=true`, update)).status).toBe(200)
    })

    test('is no condition of the change itself, which these callers may make', async () => {
      expect((await manager.patch(path, body('teams', { name: uniqueName('free') }))).status).toBe(200)
    })

    test('is 422 for a taken name and 200 for a free one, for an owner', async () => {
      expect((await tryName(owner, taken)).status).toBe(422)
      expect((await tryName(owner, uniqueName('free'))).status).toBe(200)
    })
  })
})
