import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_GRANTS_LOOKED_AT } from '../src/access/delegation-store.ts'
import { NOT_FOUND, type Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import { createGrants, grantsAndMembers, type GrantsAndMembers } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import { startServer, type TestServer } from './support/server.ts'
import { undoWrites } from './support/undone-writes.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const dialects = ['documented', 'current'] as const
type Flags = Readonly<Record<string, boolean>>

const delegating = ['manage-membership', 'manage-teams', 'manage-organization-access'] as const
const others = ['manage-workspaces', 'manage-projects', 'read-workspaces', 'access-secret-teams'] as const

/** A team of delegates: its other rights, and the team of the world that one delegate is in, too. */
const delegates = fc.record({
  flags: fc
    .tuple(fc.subarray([...delegating], { minLength: 1 }), fc.subarray([...others]))
    .map((both) => both.flat()),
  onWorkspaces: fc.array(fc.constantFrom('none', 'none', 'write', 'admin'), { minLength: 3, maxLength: 3 }),
  onProjects: fc.array(fc.constantFrom('none', 'none', 'maintain', 'admin'), { minLength: 3, maxLength: 3 }),
  visibility: fc.constantFrom('secret', 'organization'),
  also: fc.option(fc.nat(3)),
})
type Delegates = typeof delegates extends fc.Arbitrary<infer T> ? T : never

const token = () => body('authentication-tokens', { description: uniqueName('token') })

async function switchDelegationOn({ name, owner }: TestOrganization): Promise<void> {
  const answer = await owner.client.patch(
    `/organizations/${name}`,
    body('organizations', { 'delegated-team-management': true }),
  )
  expect(answer.status).toBe(200)
}

async function tokenOf({ owner }: TestOrganization, server: TestServer, teamId: string): Promise<Client> {
  const made = await owner.client.post(`/teams/${teamId}/authentication-tokens`, token())
  expect(made.status).toBe(201)
  return server.client(made.json.data.attributes.token)
}

describe.each(dialects)('delegates, dialect %s', (dialect) => {
  describe.each(engines)('on %s', (engine) => {
    let server: TestServer
    beforeAll(async () => {
      server = await startServer(engine, { dialect })
    })
    afterAll(() => server.stop())

    /** Whether the rule lets the caller change a team. Computed from requests that other rows of the table decide. */
    async function changeable(
      caller: { client: Client; flags: Flags },
      organization: TestOrganization,
      teamId: string,
      grants: readonly string[],
    ): Promise<boolean> {
      const shown = await caller.client.get(`/teams/${teamId}`)
      if (shown.status !== 200 || shown.json.data.attributes.name === 'owners') return false
      const whole = await organization.owner.client.get(`/teams/${teamId}`)
      const flags = whole.json.data.attributes['organization-access'] as Flags
      const own = { ...caller.flags }
      if (own['manage-workspaces']) own['read-workspaces'] = true
      if (Object.keys(flags).some((flag) => flags[flag] && !own[flag])) return false
      for (const grant of grants) {
        // A caller who may remove a grant may also give it.
        const taken = await caller.client.delete(grant)
        expect([204, 404]).toContain(taken.status)
        if (taken.status === 404) return false
      }
      return true
    }

    async function grantsOf(
      { owner }: TestOrganization,
      { workspaces, projects }: { workspaces: readonly string[]; projects: readonly string[] },
      teamId: string,
    ): Promise<string[]> {
      const found: string[] = []
      for (const [type, thing, ids] of [
        ['team-workspaces', 'workspace', workspaces],
        ['team-projects', 'project', projects],
      ] as const) {
        for (const id of ids) {
          const list = await owner.client.get(
            `/${type}?filter[${thing}][id]=${id}&filter[team][id]=${teamId}`,
          )
          found.push(...list.json.data.map((grant: { id: string }) => `/${type}/${grant.id}`))
        }
      }
      return found
    }

    async function compare(random: GrantsAndMembers, team: Delegates): Promise<Set<string>> {
      const seen = new Set<string>()
      const made = await createGrants(server, random)
      const { organization, teamIds, workspaces, projects } = made
      const { owner, name } = organization
      await switchDelegationOn(organization)
      const access = Object.fromEntries(team.flags.map((flag) => [flag, true]))
      const own = await createTeam(organization, {
        visibility: team.visibility,
        'organization-access': access,
      })
      for (const [place, level] of team.onWorkspaces.entries()) {
        if (level === 'none') continue
        await grantWorkspace(organization, own, workspaces[place] as string, { access: level })
      }
      for (const [place, level] of team.onProjects.entries()) {
        if (level === 'none') continue
        await grantProject(organization, own, projects[place] as string, { access: level })
      }
      const also = team.also === null ? [] : [teamIds[team.also] as string]
      const person = await addMember(server, organization, [own, ...also])
      const flagsOf = async (ids: readonly string[]) => {
        const sum: Record<string, boolean> = {}
        for (const id of ids) {
          const { json } = await owner.client.get(`/teams/${id}`)
          const flags = json.data.attributes['organization-access'] as Flags
          for (const flag of Object.keys(flags)) sum[flag] = sum[flag] === true || flags[flag] === true
        }
        return sum
      }
      const teamToken = await tokenOf(organization, server, own)
      const owners = (await owner.client.get(`/organizations/${name}/teams?filter[names]=owners`)).json
        .data[0]
      const subjects = [...teamIds, own, owners.id as string]
      const members = new Map<string, { id: string; membershipId: string }>()
      const tokens = new Map<string, string>()
      for (const id of subjects) {
        members.set(id, await addMember(server, organization, [id]))
        const single = await owner.client.post(`/teams/${id}/authentication-token`, token())
        tokens.set(id, single.json.data.id)
      }
      const grants = new Map<string, string[]>()
      for (const id of subjects) grants.set(id, await grantsOf(organization, { workspaces, projects }, id))
      const redo = undoWrites(server.app.deps.database)
      try {
        for (const caller of [
          {
            client: person.client,
            flags: await flagsOf([own, ...also]),
            teams: [own, ...also],
            isTeam: false,
          },
          { client: teamToken, flags: await flagsOf([own]), teams: [own], isTeam: true },
        ]) {
          const { client, flags, isTeam } = caller
          const listed = await client.get(`/organizations/${name}/teams?page[size]=100`)
          const managed = await client.get(`/organizations/${name}/team-tokens?page[size]=100`)
          const managedIds = managed.json.data.map(({ id }: { id: string }) => id)
          for (const teamId of subjects) {
            const isWithin = await changeable(caller, organization, teamId, grants.get(teamId) as string[])
            const managesTeams =
              !isTeam && (flags['manage-teams'] || flags['manage-organization-access']) === true && isWithin
            const managesMembers = !isTeam && isWithin && delegating.some((flag) => flags[flag])
            const isOwn = !isTeam && caller.teams.includes(teamId) && teamId !== owners.id
            const expected = {
              update: managesTeams,
              delete: managesTeams,
              grant: !isTeam && flags['manage-organization-access'] === true && isWithin,
              join: managesMembers,
              token: managesTeams || isOwn,
              managedToken: managesTeams || isOwn,
              invite: managesMembers,
              remove: isWithin && delegating.some((flag) => flags[flag]),
            }
            const member = members.get(teamId) as { id: string; membershipId: string }
            const inTeam = { data: [{ type: 'teams', id: teamId }] }
            const done = {
              update: (await client.patch(`/teams/${teamId}`, body('teams', { 'sso-team-id': 'x' }))).status,
              delete: (await client.delete(`/teams/${teamId}`)).status,
              grant: (await client.patch(`/teams/${teamId}`, body('teams', { 'organization-access': {} })))
                .status,
              join: (
                await client.post(`/teams/${teamId}/relationships/users`, {
                  data: [{ type: 'users', id: person.id }],
                })
              ).status,
              token: (await client.post(`/teams/${teamId}/authentication-tokens`, token())).status,
              managedToken: managedIds.includes(tokens.get(teamId)) ? 200 : 404,
              invite: (
                await client.post(
                  `/organizations/${name}/organization-memberships`,
                  body('organization-memberships', { email: 'new@example.com' }, { teams: inTeam }),
                )
              ).status,
              remove: (await client.delete(`/organization-memberships/${member.membershipId}`)).status,
            }
            const found = Object.fromEntries(
              Object.entries(done).map(([what, status]) => [what, status < 300]),
            )
            const about = { teamId, isTeam, flags, done }
            expect({ ...about, ...found }).toEqual({ ...about, ...expected })
            for (const [what, is] of Object.entries(found)) seen.add(`${what} ${is}`)
            expect(done.invite).toBe(found.invite ? 201 : 422)
            expect(done.remove).toBe(found.remove ? 204 : 403)
            const inList = listed.json.data.find(({ id }: { id: string }) => id === teamId)
            const alone = await client.get(`/teams/${teamId}`)
            expect(alone.status).toBe(inList === undefined ? 404 : 200)
            if (inList === undefined) continue
            expect(inList.attributes.permissions).toEqual(alone.json.data.attributes.permissions)
            expect(inList.attributes.permissions).toMatchObject({
              'can-update-membership': found.join,
              'can-destroy': found.delete,
              'can-update-organization-access': found.grant,
              'can-update-api-token': found.token,
              'can-update-visibility': found.update,
            })
          }
        }
      } finally {
        redo()
      }
      return seen
    }

    test(
      'may change exactly the teams that they see and whose flags and grants they could give',
      async () => {
        const seen = new Set<string>()
        await fc.assert(
          fc.asyncProperty(grantsAndMembers, delegates, async (random, team) => {
            for (const what of await compare(random, team)) seen.add(what)
          }),
          {
            ...runs(4, 200),
            // A delegate who can give everything, and one who can give only some of it.
            examples: [
              [weakAndStrong, { ...nothing, flags: ['manage-organization-access', 'manage-projects'] }],
              [
                weakAndStrong,
                {
                  ...nothing,
                  flags: ['manage-membership', 'manage-organization-access'],
                  onWorkspaces: ['admin', 'none', 'none'],
                  onProjects: ['none', 'maintain', 'admin'],
                },
              ],
            ],
          },
        )
        const whats = ['update', 'delete', 'grant', 'join', 'token', 'managedToken', 'invite', 'remove']
        expect([...seen].toSorted()).toEqual(
          whats.flatMap((what) => [`${what} false`, `${what} true`]).toSorted(),
        )
      },
      longTimeout * 3,
    )

    test('nobody becomes stronger by a team that is stronger than they are', async () => {
      const organization = await createTestOrganization(server)
      const { owner, name } = organization
      await switchDelegationOn(organization)
      const delegate = await addMember(server, organization, [
        await createTeam(organization, {
          'organization-access': { 'manage-membership': true, 'manage-teams': true },
        }),
      ])
      const { client } = delegate
      const strong = await createTeam(organization, {
        visibility: 'organization',
        'organization-access': { 'manage-workspaces': true },
      })
      expect((await client.get(`/teams/${strong}`)).status).toBe(200)
      const self = { data: [{ type: 'users', id: delegate.id }] }
      for (const refused of [
        await client.post(`/teams/${strong}/relationships/users`, self),
        await client.post(`/teams/${strong}/authentication-token`, token()),
        await client.post(`/teams/${strong}/authentication-tokens`, token()),
        await client.patch(`/teams/${strong}`, body('teams', { name: uniqueName('taken') })),
        await client.patch(`/teams/${strong}?dry-run=true`, body('teams', { name: uniqueName('taken') })),
        await client.patch(
          `/teams/${strong}`,
          body('teams', { 'organization-access': { 'manage-workspaces': false } }),
        ),
        await client.delete(`/teams/${strong}`),
      ]) {
        expect([refused.status, refused.text]).toEqual([404, NOT_FOUND])
      }
      // A weak team that becomes too strong when it gets a grant that the delegate cannot give.
      const made = await client.post(
        `/organizations/${name}/teams`,
        body('teams', { name: uniqueName('made'), visibility: 'organization' }),
      )
      const weak = made.json.data.id
      expect((await client.post(`/teams/${weak}/relationships/users`, self)).status).toBe(204)
      const workspace = await createWorkspace(organization)
      const grant = await grantWorkspace(organization, weak, workspace, { access: 'read' })
      const remove = () => client.delete(`/teams/${weak}/relationships/users`, self)
      expect((await remove()).text).toBe(NOT_FOUND)
      // The members of the team may create its token, because it can do no more than they can.
      expect((await client.post(`/teams/${weak}/authentication-token`, token())).status).toBe(201)
      expect((await owner.client.delete(`/team-workspaces/${grant}`)).status).toBe(204)
      expect((await remove()).status).toBe(204)
    })

    test('the team owners is for no delegate, whatever permissions they have', async () => {
      const organization = await createTestOrganization(server)
      const { owner, name } = organization
      await switchDelegationOn(organization)
      const found = await owner.client.get(
        `/organizations/${name}/teams?filter[names]=owners&fields[teams]=organization-access`,
      )
      const [owners] = found.json.data
      const all = owners.attributes['organization-access'] as Flags
      expect(Object.values(all)).not.toContain(false)
      const delegate = await addMember(server, organization, [
        await createTeam(organization, { 'organization-access': all }),
      ])
      const { client } = delegate
      expect((await owner.client.post(`/teams/${owners.id}/authentication-tokens`, token())).status).toBe(201)
      expect((await client.get(`/organizations/${name}/team-tokens`)).json.data).toEqual([])
      const self = { data: [{ type: 'users', id: delegate.id }] }
      for (const refused of [
        await client.post(`/teams/${owners.id}/relationships/users`, self),
        await client.delete(`/teams/${owners.id}/relationships/users`, self),
        await client.post(`/teams/${owners.id}/authentication-token`, token()),
        await client.patch(`/teams/${owners.id}`, body('teams', { 'sso-team-id': 'own' })),
        await client.delete(`/teams/${owners.id}`),
      ]) {
        expect([refused.status, refused.text]).toEqual([404, NOT_FOUND])
      }
      const invited = await client.post(
        `/organizations/${name}/organization-memberships`,
        body(
          'organization-memberships',
          { email: `${uniqueName('someone')}@example.com` },
          { teams: { data: [{ type: 'teams', id: owners.id }] } },
        ),
      )
      expect(invited.status).toBe(422)
    })

    test('manage-workspaces counts as reading, also if that is switched off', async () => {
      const organization = await createTestOrganization(server)
      const delegate = await addMember(server, organization, [
        await createTeam(organization, {
          'organization-access': {
            'manage-membership': true,
            'manage-workspaces': true,
            'read-workspaces': false,
          },
        }),
      ])
      const reading = await createTeam(organization, {
        visibility: 'organization',
        'organization-access': { 'read-workspaces': true },
      })
      const self = { data: [{ type: 'users', id: delegate.id }] }
      expect((await delegate.client.post(`/teams/${reading}/relationships/users`, self)).status).toBe(204)
    })

    test('a team with more grants than are looked at is for whoever gives grants everywhere', async () => {
      const organization = await createTestOrganization(server)
      const project = await createProject(organization)
      const workspace = await createWorkspace(organization, {}, inProject(project))
      const team = await createTeam(organization, { visibility: 'organization' })
      const managing = { 'manage-membership': true }
      const sharing = await createTeam(organization, { 'organization-access': managing })
      await grantProject(organization, sharing, project, { access: 'admin' })
      const sharer = await addMember(server, organization, [sharing])
      const everywhere = await addMember(server, organization, [
        await createTeam(organization, { 'organization-access': { ...managing, 'manage-workspaces': true } }),
      ])
      const may = async ({ client }: { client: Client }) =>
        (await client.get(`/teams/${team}`)).json.data.attributes.permissions['can-update-membership']
      await grantWorkspace(organization, team, workspace, { access: 'read' })
      const grant = async (from: number, to: number) => {
        await server.app.deps.database.write(async ({ db }) => {
          const place = await db
            .selectFrom('workspaces')
            .where('id', '=', workspace)
            .selectAll()
            .executeTakeFirstOrThrow()
          const given = await db
            .selectFrom('team_workspaces')
            .where('team_id', '=', team)
            .selectAll()
            .executeTakeFirstOrThrow()
          for (let number = from; number < to; number++) {
            const id = `ws-of-${team}-${number}`
            await db
              .insertInto('workspaces')
              .values({ ...place, id, name: id })
              .execute()
            await db
              .insertInto('team_workspaces')
              .values({ ...given, id: `t${id}`, workspace_id: id })
              .execute()
          }
        })
      }
      await grant(1, MAX_GRANTS_LOOKED_AT)
      expect([await may(sharer), await may(everywhere)]).toEqual([true, true])
      await grant(MAX_GRANTS_LOOKED_AT, MAX_GRANTS_LOOKED_AT + 1)
      expect([await may(sharer), await may(everywhere)]).toEqual([false, true])
    })

    test('the same for grants on projects', async () => {
      const organization = await createTestOrganization(server)
      const project = await createProject(organization)
      const team = await createTeam(organization, { visibility: 'organization' })
      const sharing = await createTeam(organization, { 'organization-access': { 'manage-membership': true } })
      for (const one of [team, sharing]) await grantProject(organization, one, project, { access: 'admin' })
      const sharer = await addMember(server, organization, [sharing])
      const grant = (from: number, to: number) =>
        server.app.deps.database.write(async ({ db }) => {
          const place = await db
            .selectFrom('projects')
            .where('id', '=', project)
            .selectAll()
            .executeTakeFirstOrThrow()
          const given = await db
            .selectFrom('team_projects')
            .where('team_id', 'in', [team, sharing])
            .where('project_id', '=', project)
            .selectAll()
            .execute()
          for (let number = from; number < to; number++) {
            const id = `prj-of-${team}-${number}`
            await db
              .insertInto('projects')
              .values({ ...place, id, name: id })
              .execute()
            const more = given.map((one) => ({ ...one, id: `${one.team_id} ${id}`, project_id: id }))
            await db.insertInto('team_projects').values(more).execute()
          }
        })
      const may = async () =>
        (await sharer.client.get(`/teams/${team}`)).json.data.attributes.permissions['can-update-membership']
      await grant(1, MAX_GRANTS_LOOKED_AT)
      expect(await may()).toBe(true)
      await grant(MAX_GRANTS_LOOKED_AT, MAX_GRANTS_LOOKED_AT + 1)
      expect(await may()).toBe(false)
    })

    test('a member is removed only if each of their teams may be changed', async () => {
      const organization = await createTestOrganization(server)
      const delegate = await addMember(server, organization, [
        await createTeam(organization, { 'organization-access': { 'manage-membership': true } }),
      ])
      const weak = await createTeam(organization, { visibility: 'organization' })
      const hidden = await createTeam(organization)
      const strong = await createTeam(organization, {
        visibility: 'organization',
        'organization-access': { 'manage-workspaces': true },
      })
      const remove = async (teams: string[]) => {
        const { membershipId } = await addMember(server, organization, teams)
        return (await delegate.client.delete(`/organization-memberships/${membershipId}`)).status
      }
      expect(await remove([weak, hidden])).toBe(403)
      expect(await remove([weak, strong])).toBe(403)
      expect(await remove([weak])).toBe(204)
      expect(await remove([])).toBe(204)
    })

    test("a team's token invites into the organization, and into no team", async () => {
      const organization = await createTestOrganization(server)
      const weak = await createTeam(organization, { visibility: 'organization' })
      const inviters = await createTeam(organization, {
        'organization-access': { 'manage-membership': true },
      })
      const client = await tokenOf(organization, server, inviters)
      const invite = (teams: string[]) =>
        client.post(
          `/organizations/${organization.name}/organization-memberships`,
          body(
            'organization-memberships',
            { email: `${uniqueName('someone')}@example.com` },
            { teams: { data: teams.map((id) => ({ type: 'teams', id })) } },
          ),
        )
      const refused = await invite([weak])
      expect([refused.status, refused.json.errors[0].detail]).toEqual([
        422,
        'id does not name a team that the caller may invite into',
      ])
      expect((await invite([])).status).toBe(201)
    })
  })
})

const nothing: Delegates = {
  flags: [],
  onWorkspaces: ['none', 'none', 'none'],
  onProjects: ['none', 'none', 'none'],
  visibility: 'secret',
  also: null,
}

/** Visible teams: one with nothing, one with a flag, one with a grant on a workspace, one with a grant on a project. */
const weakAndStrong: GrantsAndMembers = {
  teams: [
    { visibility: 'organization', flags: [] },
    { visibility: 'organization', flags: ['manage-membership'] },
    { visibility: 'organization', flags: [] },
    { visibility: 'secret', flags: [] },
  ],
  onWorkspaces: [
    { team: 2, place: 0, grant: { access: 'write' } },
    { team: 2, place: 1, grant: { access: 'read' } },
  ],
  onProjects: [{ team: 2, place: 2, grant: { access: 'read' } }],
  members: [[0], [1], [2]],
}
