import * as fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { NOT_FOUND, type Client, type Json } from './support/client.ts'
import { numberedIds, numbersUpTo } from './support/numbered-ids.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createGrants, grantsAndMembers, leastGrants } from './support/random-grants.ts'
import { longTimeout, runs } from './support/runs.ts'
import {
  addMember,
  createProject,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  invitePerson,
} from './support/world.ts'

type Access = { level: string; may: Record<string, boolean>; 'may-in-workspaces'?: Record<string, boolean> }
type Row = { id: string; attributes: Access & { who: { type: string; id: string; name: string } } }

const MANY = 3_000
const WHEN = '2026-01-01T00:00:00.000Z'

/** The actions by the names that `filter[may]` takes. */
function actionsIn({ may, 'may-in-workspaces': inWorkspaces = {} }: Access): [string, boolean][] {
  return [
    ...Object.entries(may),
    ...Object.entries(inWorkspaces).map(([name, is]): [string, boolean] => [`workspaces/${name}`, is]),
  ]
}

onEachEngine('access holders', { maxTeamMembers: '100000' }, (server) => {
  const all = async (client: Client, path: string, query = ''): Promise<Row[]> => {
    const found: Row[] = []
    for (let number: number | null = 1; number !== null;) {
      const answer = await client.get(`${path}?page[size]=4&page[number]=${number}${query}`)
      expect(answer.status, answer.text).toBe(200)
      found.push(...answer.json.data)
      number = answer.json.meta.pagination['next-page']
      if (number === null) expect(answer.json.meta.pagination['total-count']).toBe(found.length)
    }
    return found
  }
  const namesOf = (rows: readonly Row[]) => rows.map(({ attributes }) => attributes.who.name)

  test(
    'are exactly those who may do more than a plain member, each as effective access says',
    async () => {
      await fc.assert(
        fc.asyncProperty(grantsAndMembers, async (random) => {
          const { organization, teamIds, projects, workspaces, members } = await createGrants(server, random)
          const { owner, name } = organization
          const service = await owner.client.post(`/teams/${teamIds[0]}/authentication-token`)
          expect(service.status).toBe(201)
          const listed = await owner.client.get(`/organizations/${name}/teams?page[size]=100`)
          const subjects = [
            ...listed.json.data.map(({ id, attributes }: Json) => ['teams', id, attributes.name]),
            ...[owner, ...members].map(({ id, username }) => ['users', id, username]),
          ] as [string, string, string][]
          const sorted = subjects.toSorted((one, other) =>
            `${one[0]} ${one[2]}` < `${other[0]} ${other[2]}` ? -1 : 1,
          )
          for (const [kind, ids] of [
            ['workspace', workspaces],
            ['project', projects],
          ] as const) {
            for (const id of ids) {
              const path = `/${kind}s/${id}/access-holders`
              const expected: Row[] = []
              let names: string[] = []
              for (const [type, who, called] of sorted) {
                const query = `${type === 'users' ? 'user' : 'team'}=${who}&${kind}=${id}`
                const one = await owner.client.get(`/organizations/${name}/effective-access?${query}`)
                const { level, may, 'may-in-workspaces': inside, grants } = one.json.data[0].attributes
                names = actionsIn(one.json.data[0].attributes).map(([action]) => action)
                if (level === 'none') continue
                const attributes = {
                  who: { type, id: who, name: called },
                  level,
                  may,
                  ...(inside === undefined ? {} : { 'may-in-workspaces': inside }),
                  grants,
                }
                expected.push({ id: `${who}:${id}`, type: 'access-holders', attributes } as unknown as Row)
              }
              expect(await all(owner.client, path)).toEqual(expected)
              for (const action of names) {
                const wanted = expected.filter(({ attributes }) =>
                  actionsIn(attributes).some(([known, is]) => known === action && is),
                )
                const found = await all(owner.client, path, `&filter[may]=${action}`)
                expect([action, namesOf(found)]).toEqual([action, namesOf(wanted)])
              }
            }
          }
        }),
        { ...runs(1, 40), examples: [[leastGrants]] },
      )
    },
    longTimeout * 3,
  )

  test('flags of teams make all their members holders, and the search finds one of them', async () => {
    const organization = await createTestOrganization(server, { 'delegated-team-management': true })
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const path = `/workspaces/${workspace}/access-holders`
    const ofFlags = (flags: Record<string, boolean>) => ({ 'organization-access': flags })
    const seers = await createTeam(organization, { name: 'seers', ...ofFlags({ 'read-workspaces': true }) })
    const others = ['manage-membership', 'manage-teams', 'read-audit', 'manage-policies']
    for (const flag of others) await createTeam(organization, { name: flag, ...ofFlags({ [flag]: true }) })
    const one = await addMember(server, organization, [seers])
    await addMember(server, organization)
    const person = await createUser(server)
    await invitePerson(organization, person, [seers])
    const { username } = organization.owner
    expect(namesOf(await all(client, path))).toEqual([
      'owners',
      'seers',
      ...[one.username, username].toSorted(),
    ])
    expect(namesOf(await all(client, path, '&filter[may]=lock'))).toEqual(['owners', username])
    expect(namesOf(await all(client, path, '&filter[who]=teams'))).toEqual(['owners', 'seers'])
    expect(namesOf(await all(client, path, `&filter[who]=users&q=${one.username.toUpperCase()}`))).toEqual([
      one.username,
    ])
    expect(namesOf(await all(client, path, '&q=SEER'))).toEqual(['seers'])
    const wrong = await client.get(`${path}?filter[may]=fly&filter[who]=cats&page[number]=0`)
    expect([wrong.status, wrong.json.errors.length]).toEqual([400, 2])
  })

  test('are for those who may ask about everybody, and for nobody who is a holder', async () => {
    const organization = await createTestOrganization(server)
    const project = await createProject(organization)
    const place = inProject(project)
    const workspace = await createWorkspace(organization, {}, place)
    const admins = await createTeam(organization)
    await grantWorkspace(organization, admins, workspace, { access: 'admin' })
    await grantProject(organization, admins, project, { access: 'admin' })
    const auditors = await createTeam(organization, { 'organization-access': { 'read-audit': true } })
    const callers = [
      (await addMember(server, organization, [admins])).client,
      (await addMember(server, organization, [auditors])).client,
      (await createTestOrganization(server)).owner.client,
    ]
    for (const path of [`/workspaces/${workspace}/access-holders`, `/projects/${project}/access-holders`]) {
      for (const caller of callers) expect((await caller.get(path)).text).toBe(NOT_FOUND)
      for (const caller of [organization.owner.client, server.admin]) {
        expect((await caller.get(path)).status).toBe(200)
      }
      expect(namesOf(await all(server.admin, path, '&filter[who]=users'))).toHaveLength(2)
    }
  })

  test('of very many are listed in pages, and too many are refused', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const workspace = await createWorkspace(organization)
    const team = await createTeam(organization, { name: 'large' })
    await grantWorkspace(organization, team, workspace, { access: 'read' })
    const numbers = numbersUpTo(MANY)
    const ids = numberedIds(1)
    await server.app.deps.database.write(async ({ db }) => {
      await sql`insert into users (id, username, created_at) ${numbers} select 'user-' || ${ids}, 'many-' || n, ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into memberships (id, organization_id, user_id, status, created_at) ${numbers} select 'ou-' || ${ids}, ${organization.id}, 'user-' || ${ids}, 'active', ${WHEN} from numbers`.execute(
        db,
      )
      await sql`insert into team_members (team_id, membership_id, user_id, organization_id, is_active) ${numbers} select ${team}, 'ou-' || ${ids}, 'user-' || ${ids}, ${organization.id}, 1 from numbers`.execute(
        db,
      )
    })
    const setCount = (count: number) =>
      server.app.deps.database.write(async ({ db }) => {
        await db.updateTable('teams').set({ users_count: count }).where('id', '=', team).execute()
        await sql`update organizations set version = version + 1 where id = ${organization.id}`.execute(db)
      })
    await setCount(MANY)
    const path = `/workspaces/${workspace}/access-holders`
    const last = await client.get(`${path}?page[size]=100&page[number]=31&filter[who]=users`)
    expect([last.status, last.json.data.length, last.json.meta.pagination['total-count']]).toEqual([
      200, 1, 3_001,
    ])
    const found = await client.get(`${path}?q=many-2999`)
    expect(namesOf(found.json.data)).toEqual(['many-2999'])
    const joined = await addMember(server, organization, [team])
    const again = await client.get(`${path}?filter[who]=users&q=${joined.username}`)
    expect(namesOf(again.json.data)).toEqual([joined.username])
    await setCount(300_001)
    const refused = await client.get(path)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      400,
      expect.stringContaining('ask with filter[may] for an action that fewer have'),
    ])
    expect((await client.get(`${path}?filter[may]=lock`)).json.data).toHaveLength(2)
  })
})
