import * as fc from 'fast-check'
import type { KyselyPlugin } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { rawRoutes, routes } from '../src/app.ts'
import type { Transaction } from '../src/database/database.ts'
import type { PreparedQuery } from '../src/database/prepared.ts'
import { NOT_FOUND, type Client, type Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createGrants, grantsAndMembers, leastGrants } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  invitePerson,
  uniqueName,
  type Member,
  type TestOrganization,
} from './support/world.ts'

type Change = {
  who: { type: string; id: string; name: string }
  on: { type: string; id: string; name: string }
  from?: string
  to?: string
  gained: string[]
  lost: string[]
}

const grantBody = (team: string, kind: 'workspace' | 'project', id: string, attributes: object) =>
  body(`team-${kind}s`, attributes, {
    team: { data: { type: 'teams', id: team } },
    [kind]: { data: { type: `${kind}s`, id } },
  })

/** The actions of an effective access, by the names that a dry run uses. */
function mayOf(attributes: {
  may: Record<string, boolean>
  'may-in-workspaces'?: Record<string, boolean>
}): string[] {
  const names = (shown: Record<string, boolean>) => Object.keys(shown).filter((name) => shown[name])
  const inWorkspaces = names(attributes['may-in-workspaces'] ?? {})
  return [...names(attributes.may), ...inWorkspaces.map((name) => `workspaces/${name}`)]
}

function changesOf({ status, json, text }: Response): Change[] {
  if (status !== 200) throw new Error(`expected 200, got ${status} ${text}`)
  expect(json.data.type).toBe('access-changes')
  expect(json.data.attributes.truncated).toBe(false)
  expect(json.data.attributes['changes-count']).toBe(json.data.attributes.changes.length)
  return json.data.attributes.changes
}

onEachEngine('a dry run', (server) => {
  /** Everything that a write could change. */
  const written = () =>
    server.app.deps.database.read(async ({ db }) => ({
      events: await db
        .selectFrom('audit_events')
        .select(({ fn }) => fn.countAll().as('count'))
        .execute(),
      versions: await db.selectFrom('organizations').select(['id', 'version']).orderBy('id').execute(),
      teams: await db.selectFrom('teams').selectAll().orderBy('id').execute(),
      workspaces: await db.selectFrom('team_workspaces').selectAll().orderBy('id').execute(),
      projects: await db.selectFrom('team_projects').selectAll().orderBy('id').execute(),
      members: await db
        .selectFrom('team_members')
        .selectAll()
        .orderBy('team_id')
        .orderBy('user_id')
        .execute(),
    }))

  test(
    'answers what the change then does, and changes nothing',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, async (random) => {
          const made = await createGrants(server, random)
          const { organization, teamIds, projects, workspaces, members, workspaceGrants, projectGrants } =
            made
          const { client } = organization.owner
          const path = `/organizations/${organization.name}/effective-access`
          const subjects = [
            ...members.map(({ id }) => `user=${id}`),
            ...teamIds.map((id) => `team=${id}`),
            `user=${organization.owner.id}`,
          ]
          const levels = async () => {
            const found = new Map<string, { level: string; may: string[] }>()
            for (const query of subjects) {
              const pages = [await client.get(`${path}?${query}`)]
              for (const project of projects)
                pages.push(await client.get(`${path}?${query}&project=${project}`))
              for (const { json } of pages.filter(({ status }) => status === 200)) {
                for (const { id, attributes } of json.data) {
                  found.set(id, { level: attributes.level, may: mayOf(attributes) })
                }
              }
            }
            return found
          }
          const [first, second, third] = teamIds as [string, string, string]
          const [, , free] = workspaces as [string, string, string]
          const flags = { 'manage-workspaces': true, 'read-projects': true }
          const ofWorkspace = [...workspaceGrants.values()].flat()
          const ofProject = [...projectGrants.values()].flat()
          const leaving = { data: [{ type: 'users', id: members[0]?.username }] }
          const joining = { data: [{ type: 'organization-memberships', id: members[1]?.membershipId }] }
          const isFree = (grants: string[] | undefined) => grants === undefined || grants.length === 0
          const writes: [string, string, object?][] = [
            ['PATCH', `/teams/${first}`, body('teams', { 'organization-access': flags })],
            ['PATCH', `/team-workspaces/${ofWorkspace[0]}`, body('team-workspaces', { access: 'plan' })],
            ['POST', `/teams/${second}/relationships/organization-memberships`, joining],
            ['DELETE', `/teams/${first}/relationships/users`, leaving],
            ['DELETE', `/team-workspaces/${ofWorkspace.at(-1)}`],
            ...(isFree(workspaceGrants.get(free))
              ? [
                  [
                    'POST',
                    '/team-workspaces',
                    grantBody(second, 'workspace', free, { access: 'admin' }),
                  ] as const,
                ]
              : []),
            ...(isFree(projectGrants.get(projects[0] as string))
              ? [
                  [
                    'POST',
                    '/team-projects',
                    grantBody(third, 'project', projects[0] as string, { access: 'maintain' }),
                  ] as const,
                ]
              : []),
            ...(ofProject.length === 0
              ? []
              : [
                  [
                    'PATCH',
                    `/team-projects/${ofProject[0]}`,
                    body('team-projects', { access: 'write' }),
                  ] as const,
                  ['DELETE', `/team-projects/${ofProject[0]}`] as const,
                ]),
            ['DELETE', `/teams/${third}`],
          ].map((write) => [...write] as [string, string, object?])
          let before = await levels()
          for (const [method, target, sent] of writes) {
            const left = await written()
            const tried = changesOf(await client.request(method, `${target}?dry-run=true`, sent))
            expect(await written()).toEqual(left)
            const done = await client.request(method, target, sent)
            expect([method, target, done.status < 300]).toEqual([method, target, true])
            const after = await levels()
            const expected: string[] = []
            for (const [id, { level, may }] of before) {
              // A deleted team cannot be asked for its access.
              const now = after.get(id) ?? { level: 'none', may: [] }
              const gained = now.may.filter((name) => !may.includes(name))
              const lost = may.filter((name) => !now.may.includes(name))
              if (level !== now.level || gained.length + lost.length > 0) {
                expected.push(
                  `${id} ${level} ${now.level} +${gained.toSorted().join()} -${lost.toSorted().join()}`,
                )
              }
            }
            const said = tried
              .filter(({ on }) => on.type !== 'organizations')
              .map(
                ({ who, on, from, to, gained, lost }) =>
                  `${who.id}:${on.id} ${from} ${to} +${gained.toSorted().join()} -${lost.toSorted().join()}`,
              )
              // Drop the Default Project, which the test does not ask for.
              .filter((text) => before.has(text.split(' ')[0] as string))
            // A grant on one workspace does not report whether its project becomes visible.
            const relevant = target.startsWith('/team-workspaces')
              ? expected.filter((text) => text.includes(':ws-'))
              : expected
            expect({ method, target, said: said.toSorted() }).toEqual({
              method,
              target,
              said: relevant.toSorted(),
            })
            before = after
          }
        }),
        runs(1, 50),
      )
    },
    longTimeout * 3,
  )

  describe('of one team', () => {
    let organization: TestOrganization
    let client: Client
    let workspace: string
    let team: string
    let member: Member
    /** Who the changes are about: the team, and its only member. */
    let who: object[]
    beforeAll(async () => {
      organization = await createTestOrganization(server)
      client = organization.owner.client
      workspace = await createWorkspace(organization, { name: 'network' })
      team = await createTeam(organization, { name: 'platform' })
      member = await addMember(server, organization, [team])
      who = [
        { type: 'teams', id: team, name: 'platform' },
        { type: 'users', id: member.id, name: member.username },
      ]
    })

    test('names each team and user with the level and what is gained on the workspace', async () => {
      const grant = grantBody(team, 'workspace', workspace, { access: 'custom', 'workspace-locking': true })
      const on = { type: 'workspaces', id: workspace, name: 'network' }
      const seen = { from: 'none', to: 'custom', gained: ['read-workspace', 'lock'], lost: [] }
      expect(changesOf(await client.post('/team-workspaces?dry-run=true', grant))).toEqual(
        who.map((one) => ({ who: one, on, ...seen })),
      )
      expect((await member.client.get(`/workspaces/${workspace}`)).text).toBe(NOT_FOUND)
    })

    test('names the permissions in the organization that are gained', async () => {
      const managing = body('teams', { 'organization-access': { 'manage-membership': true } })
      expect(changesOf(await client.patch(`/teams/${team}?dry-run=true`, managing))).toEqual(
        who.map((one) => ({
          who: one,
          on: { type: 'organizations', id: organization.name, name: organization.name },
          gained: ['manage-membership'],
          lost: [],
        })),
      )
    })

    test('has no changes if an invited person joins', async () => {
      const invited = await createUser(server)
      const membership = await invitePerson(organization, invited)
      const adding = { data: [{ type: 'organization-memberships', id: membership }] }
      const path = `/teams/${team}/relationships/organization-memberships?dry-run=true`
      expect(changesOf(await client.post(path, adding))).toEqual([])
    })

    test('has no changes for a new name; with dry-run=false the team is renamed', async () => {
      const renaming = body('teams', { name: 'renamed' })
      expect(changesOf(await client.patch(`/teams/${team}?dry-run=true`, renaming))).toEqual([])
      expect((await client.patch(`/teams/${team}?dry-run=false`, renaming)).json.data.type).toBe('teams')
      expect((await client.get(`/teams/${team}`)).json.data.attributes.name).toBe('renamed')
    })
  })

  test('reads what it compares outside the write lock, so that others wait only for the change itself', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization)
    const other = await createTeam(organization)
    const member = await addMember(server, organization, [team, other])
    const grant = await grantWorkspace(organization, team, workspace, { access: 'read' })
    const { database } = server.app.deps
    const write = database.write.bind(database)
    const tables = new Set<string>()
    const noted: KyselyPlugin = {
      transformQuery: ({ node }) => {
        const from = node.kind === 'SelectQueryNode' ? JSON.stringify(node.from) : ''
        for (const [, table = ''] of from.matchAll(/"identifier":\{[^}]*"name":"(\w+)"/g)) tables.add(table)
        return node
      },
      transformResult: ({ result }) => Promise.resolve(result),
    }
    const watched = (tx: Transaction): Transaction => {
      const of = <V extends Record<string, unknown>, R>(query: PreparedQuery<V, R>) => {
        tables.add(/from "(\w+)"/.exec(query.sql(tx.engine))?.[1] ?? '')
        return query
      }
      return {
        engine: tx.engine,
        mode: tx.mode,
        get db() {
          return tx.db.withPlugin(noted)
        },
        all: (query, values) => tx.all(of(query), values),
        first: (query, values) => tx.first(of(query), values),
        repeat: (query, values) => tx.repeat(of(query), values),
        afterCommit: (act) => tx.afterCommit(act),
      }
    }
    database.write = (work) => write((tx) => work(watched(tx)))
    try {
      const flags = body('teams', { 'organization-access': { 'manage-workspaces': true } })
      expect(changesOf(await client.patch(`/teams/${team}?dry-run=true`, flags)).length).toBeGreaterThan(3)
      expect(tables).toContain('teams')
      for (const name of ['workspaces', 'projects', 'team_workspaces', 'team_projects', 'users']) {
        expect([...tables]).not.toContain(name)
      }
      const leaving = { data: [{ type: 'users', id: member.id }] }
      const left = await client.request('DELETE', `/teams/${team}/relationships/users?dry-run=true`, leaving)
      expect(changesOf(left).length).toBeGreaterThan(0)
      for (const name of ['workspaces', 'projects', 'team_workspaces', 'team_projects']) {
        expect([...tables]).not.toContain(name)
      }
      expect(changesOf(await client.delete(`/team-workspaces/${grant}?dry-run=true`))).toHaveLength(2)
      expect([...tables]).toContain('team_workspaces')
    } finally {
      database.write = write
    }
  })

  test('is refused as the change would be', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization, { visibility: 'organization' })
    const workspace = await createWorkspace(organization)
    const grant = await grantWorkspace(organization, team, workspace, { access: 'read' })
    const member = await addMember(server, organization, [team])
    const list = await client.get(`/organizations/${organization.name}/teams`)
    const owners = list.json.data.find(
      (one: { attributes: { name: string } }) => one.attributes.name === 'owners',
    )
    const same = async (caller: Client, method: string, path: string, sent?: object) => {
      const tried = await caller.request(method, `${path}?dry-run=true`, sent)
      const done = await caller.request(method, path, sent)
      expect({ path, status: tried.status, text: tried.text }).toEqual({
        path,
        status: done.status,
        text: done.text,
      })
      return tried.status
    }
    const flags = body('teams', {
      'organization-access': { 'manage-projects': true, 'manage-workspaces': false },
    })
    expect(await same(client, 'PATCH', `/teams/${team}`, flags)).toBe(422)
    expect(await same(member.client, 'PATCH', `/teams/${team}`, flags)).toBe(404)
    expect(await same(server.client('bad'), 'PATCH', `/teams/${team}`, flags)).toBe(401)
    expect(await same(client, 'PATCH', '/teams/team-zzzzzzzzzzzzzzzz', flags)).toBe(404)
    expect(await same(client, 'PATCH', `/teams/${owners.id}`, flags)).toBe(422)
    expect(await same(client, 'DELETE', `/teams/${owners.id}`)).toBe(422)
    const again = grantBody(team, 'workspace', workspace, { access: 'read' })
    expect(await same(client, 'POST', '/team-workspaces', again)).toBe(422)
    expect(await same(member.client, 'POST', '/team-workspaces', again)).toBe(404)
    expect(await same(member.client, 'DELETE', `/team-workspaces/${grant}`)).toBe(404)
    const last = { data: [{ type: 'users', id: organization.owner.id }] }
    expect(await same(client, 'DELETE', `/teams/${owners.id}/relationships/users`, last)).toBe(403)
    const nobody = { data: [{ type: 'users', id: 'nobody-of-that-name' }] }
    expect(await same(client, 'POST', `/teams/${team}/relationships/users`, nobody)).toBe(422)
  })

  test('is 400 on every route that has none', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const writes = [
      ...routes.map((route) => ({ ...route, path: `/api/v2${route.path}` })),
      ...rawRoutes,
    ].filter(({ method }) => method !== 'GET')
    expect(writes.length).toBeGreaterThan(40)
    for (const route of writes) {
      const path = route.path.replace(':organization_name', organization.name).replace(/:[a-z_]+/g, 'x')
      const { status, json } = await client.request(route.method, `${server.address}${path}?dry-run=true`)
      if ('hasDryRun' in route && route.hasDryRun) {
        expect(status, path).not.toBe(400)
      } else {
        expect(status, path).toBe(400)
        expect(json.errors[0].source, path).toEqual({ parameter: 'dry-run' })
      }
    }
  })

  test('is 400 if the value is neither true nor false', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    for (const value of ['', '1', 'True', 'yes', 'false,true']) {
      expect((await client.delete(`/teams/${team}?dry-run=${value}`)).status, value).toBe(400)
    }
    expect((await client.get(`/teams/${team}`)).status).toBe(200)
  })

  test('is 400 if the parameter is repeated or misspelled', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const team = await createTeam(organization)
    for (const [query, parameter] of [
      ['dry-run=true&dry-run=false', 'dry-run'],
      ['dry-run=true&dry-run=true', 'dry-run'],
      ['dry_run=true', 'dry_run'],
      ['dryRun=true', 'dryRun'],
      ['Dry-Run=true', 'Dry-Run'],
      ['dry-run[]=true', 'dry-run[]'],
      ['dryrun', 'dryrun'],
      ['dry__run=true', 'dry__run'],
      ['dry--run=true', 'dry--run'],
      ['a=b;dry-run=true', 'a'],
      ['a=b%3f%20dry_run=true', 'a'],
      ['filter[dry-run]=true', 'filter[dry-run]'],
      ['is_dry_run=true', 'is_dry_run'],
    ] as const) {
      const { status, json } = await client.delete(`/teams/${team}?${query}`)
      expect(status, query).toBe(400)
      expect(json.errors[0].source, query).toEqual({ parameter })
    }
    expect((await client.get(`/teams/${team}`)).status).toBe(200)
  })

  test(
    'gives callers who do not see everything the same answer, whatever the hidden objects are',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, fc.constantFrom('workspace', 'project'), async (random, kind) => {
          const { organization, teamIds, projects, workspaces, members } = await createGrants(server, random)
          const { client } = organization.owner
          const [project, workspace] = [projects[0] as string, workspaces[0] as string]
          // The caller administers one place and sees the teams that are visible to the organization.
          const administrators = await createTeam(organization)
          const onPlace = kind === 'workspace' ? grantWorkspace : grantProject
          await onPlace(organization, administrators, kind === 'workspace' ? workspace : project, {
            access: 'admin',
          })
          const caller = await addMember(server, organization, [administrators])
          const open = await createTeam(organization, { visibility: 'organization' })
          for (const { membershipId } of members.slice(0, 2)) {
            const data = [{ type: 'organization-memberships', id: membershipId }]
            await client.post(`/teams/${open}/relationships/organization-memberships`, { data })
          }
          const elsewhere = await createTeam(organization, { visibility: 'organization' })
          await client.post(`/teams/${elsewhere}/relationships/organization-memberships`, {
            data: [{ type: 'organization-memberships', id: members[0]?.membershipId }],
          })
          const mine = await onPlace(organization, open, kind === 'workspace' ? workspace : project, {
            access: 'read',
          })
          const tries = async () => {
            const answers: string[] = []
            for (const [method, path, sent] of [
              ['PATCH', `/team-${kind}s/${mine}`, body(`team-${kind}s`, { access: 'write' })],
              ['DELETE', `/team-${kind}s/${mine}`],
            ] as const) {
              answers.push((await caller.client.request(method, `${path}?dry-run=true`, sent)).text)
            }
            return answers
          }
          const before = await tries()
          // Create a team that the caller cannot see and that gives access to everything, and a place they cannot see.
          const hidden = await createTeam(organization, {
            'organization-access': { 'manage-projects': true },
          })
          const data = members.map(({ membershipId }) => ({
            type: 'organization-memberships',
            id: membershipId,
          }))
          await client.post(`/teams/${hidden}/relationships/organization-memberships`, { data })
          await grantWorkspace(organization, hidden, workspace, { access: 'admin' })
          await grantProject(organization, hidden, project, { access: 'admin' })
          // The administrator of a workspace does not see grants on its project, even for a team that they see.
          if (kind === 'workspace') {
            await grantProject(organization, elsewhere, project, { access: 'admin' })
          }
          await grantProject(organization, teamIds[0] as string, projects[2] as string, {
            access: 'admin',
          }).catch(() => undefined)
          await createWorkspace(
            organization,
            {},
            { project: { data: { type: 'projects', id: projects[1] as string } } },
          )
          expect(await tries()).toEqual(before)
          for (const text of before) expect(text).toContain('"type":"access-changes"')
        }),
        // No shrinking after a failure: a smaller world would take as long to create.
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

  test('discloses no teams, grants and workspaces that the caller may not see', async () => {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const inProject = { project: { data: { type: 'projects', id: project } } }
    const workspace = await createWorkspace(organization, {}, inProject)
    const open = await createTeam(organization, { visibility: 'organization' })
    const seen = await createTeam(organization, { visibility: 'organization' })
    const secret = await createTeam(organization)
    const administrators = await createTeam(organization, { visibility: 'organization' })
    await grantWorkspace(organization, administrators, workspace, { access: 'admin' })
    const caller = await addMember(server, organization, [administrators])
    const member = await addMember(server, organization, [open, seen, secret])
    await grantWorkspace(organization, secret, workspace, { access: 'admin' })
    await grantProject(organization, seen, project, { access: 'admin' })
    const granting = grantBody(open, 'workspace', workspace, { access: 'read' })
    const from = async (client: Client) => {
      const changes = changesOf(await client.post('/team-workspaces?dry-run=true', granting))
      return changes.find(({ who }) => who.id === member.id)?.from
    }
    // The owner sees that nothing changes. The workspace's administrator does not know either grant.
    expect(await from(organization.owner.client)).toBeUndefined()
    expect(await from(caller.client)).toBe('none')
    await grantWorkspace(organization, seen, workspace, { access: 'write' })
    expect(await from(caller.client)).toBeUndefined()
    const managers = await createTeam(organization, { 'organization-access': { 'manage-membership': true } })
    const manager = await addMember(server, organization, [managers])
    const joining = { data: [{ type: 'users', id: caller.id }] }
    const path = `/teams/${seen}/relationships/users?dry-run=true`
    // A manager may not try a dry run on a stronger team, either.
    expect((await manager.client.post(path, joining)).text).toBe(NOT_FOUND)
    const tried = await manager.client.post(`/teams/${open}/relationships/users?dry-run=true`, joining)
    expect(changesOf(tried)).toEqual([])
    expect(tried.json.data.attributes['places-count']).toBe(0)
    expect(changesOf(await organization.owner.client.post(path, joining)).length).toBeGreaterThan(0)
  })

  test('is 400 with a name for callers who do not see all teams, whether the name is taken or not', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const delegation = body('organizations', { 'delegated-team-management': true })
    expect((await client.patch(`/organizations/${organization.name}`, delegation)).status).toBe(200)
    const [hidden, free] = [uniqueName('hidden'), uniqueName('free')]
    await createTeam(organization, { name: hidden })
    const open = await createTeam(organization, { visibility: 'organization' })
    const delegates = await createTeam(organization, { 'organization-access': { 'manage-teams': true } })
    const blind = await addMember(server, organization, [delegates])
    const tried = (by: Client, name: string) =>
      by.patch(`/teams/${open}?dry-run=true`, body('teams', { name }))

    const refusals = [await tried(blind.client, hidden), await tried(blind.client, free)]
    expect(refusals.map(({ status }) => status)).toEqual([400, 400])
    expect(refusals[0]?.text).toBe(refusals[1]?.text)
    expect(refusals[0]?.json.errors[0].detail).toContain('see all teams')
    // Without a name they may run it dry, and without a dry run they may set the name.
    const other = body('teams', { 'sso-team-id': 'sso' })
    expect((await blind.client.patch(`/teams/${open}?dry-run=true`, other)).status).toBe(200)
    expect((await blind.client.patch(`/teams/${open}`, body('teams', { name: free }))).status).toBe(200)

    expect((await tried(client, hidden)).status).toBe(422)
    expect((await tried(client, uniqueName('free'))).status).toBe(200)
  })
})

onEachEngine('a dry run with limits', { maxDryRunPairs: '6', maxDryRunChanges: '2' }, (server) => {
  test('answers how much it looked at, and how much there is', async () => {
    const organization = await createTestOrganization(server)
    await createWorkspace(organization)
    const team = await createTeam(organization)
    for (let count = 0; count < 3; count++) await addMember(server, organization, [team])
    const flags = body('teams', { 'organization-access': { 'read-workspaces': true } })
    const { client } = organization.owner
    const attributes = async () =>
      (await client.patch(`/teams/${team}?dry-run=true`, flags)).json.data.attributes
    // Two places, the workspace and the Default Project, so the limit allows three users or teams.
    expect(await attributes()).toMatchObject({
      truncated: true,
      'changes-count': 9,
      'who-count': 4,
      'who-looked-at': 3,
      'places-count': 2,
      'places-looked-at': 2,
    })
    expect((await attributes()).changes).toHaveLength(2)
    for (let count = 0; count < 8; count++) await createWorkspace(organization)
    expect(await attributes()).toMatchObject({
      'who-looked-at': 1,
      'places-count': 10,
      'places-looked-at': 6,
    })
  })
})
