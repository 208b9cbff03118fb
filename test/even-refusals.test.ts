import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { idPrefixes } from '../src/core/ids.ts'
import type { Transaction } from '../src/database/database.ts'
import { sqliteFile } from '../src/database/open.ts'
import { bumpVersion, findOrganizationByName } from '../src/organizations/organization-store.ts'
import type { Home } from './support/access-home.ts'
import { accessRoutes, effectiveAccess, type AccessRoute } from './support/access-requests.ts'
import { isAllowed, type Target } from './support/access-table.ts'
import { missingId, missingParams, pathOf, targetsOf } from './support/access-targets.ts'
import { createAccessWorld, type AccessActor, type AccessWorld } from './support/access-world.ts'
import { engines } from './support/engines.ts'
import { isLong, longTimeout } from './support/runs.ts'
import { startServer, type TestServer } from './support/server.ts'
import { Statements } from './support/statements.ts'
import { undoWrites } from './support/undone-writes.ts'
import {
  addMember,
  body as resource,
  createProject,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  inProject,
} from './support/world.ts'

// The test compares statements, so it does not wait for the steps of time.
vi.mock(import('../src/http/steady.ts'), () => ({
  isSteady: () => false,
  untilNextStep: () => Promise.resolve(),
}))

/** The callers of the normal mode: an outsider, a member with a grant, and a team token. */
const codes = new Set(['OUT', 'cO', 'TT'])

type Probe = { label: string; path: string; body: object | undefined }

describe.each(engines)('what a refusal runs on %s', (engine) => {
  let server: TestServer
  let world: AccessWorld
  let statements: Statements
  let write: (work: (tx: Transaction) => Promise<unknown>) => Promise<unknown>
  beforeAll(async () => {
    // Periodic background work must not run during the requests.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    statements = new Statements(engine)
    server = await startServer(engine)
    world = await createAccessWorld(server)
    write = server.app.deps.database.write.bind(server.app.deps.database)
    undoWrites(server.app.deps.database)
  })
  afterAll(async () => {
    vi.useRealTimers()
    statements.stop()
    await server.stop()
  })

  /** Invalidates the caches of these organizations. */
  const forget = (organizationIds: readonly string[]) =>
    write(async (tx) => {
      for (const id of organizationIds) await bumpVersion(tx, id)
    })
  const idOf = ({ organization }: Home) =>
    server.app.deps.database.read(async (tx) => {
      const found = await findOrganizationByName(tx, organization.name)
      return (found as NonNullable<typeof found>).id
    })

  /** Describes where the statements of refusals differ from those of the first refusal. */
  const differences = async (
    { method, path: route, note }: AccessRoute,
    { name, client, home }: AccessActor,
    probes: readonly Probe[],
  ): Promise<string[]> => {
    const ids = await Promise.all([home, world.other].map(idOf))
    const isShown = accessRoutes.some((one) => one.method === 'GET' && one.path === route)
    let first: { what: string; ran: string[] } | undefined
    const probe = async ({ label, path, body }: Probe, when: string) => {
      let status = 0
      const ran = await statements.of(async () => ({ status } = await client.request(method, path, body)))
      const what = `${method} ${route} ${note ?? ''} · ${name} · ${label} (${when})`
      first ??= { what, ran }
      if (status !== 404 && status !== 422) return `${what}: ${status}`
      if (JSON.stringify(ran) === JSON.stringify(first.ran)) return undefined
      const [more, less] = [without(ran, first.ran), without(first.ran, ran)].map((some) =>
        some.join('\n    '),
      )
      return `${what} against ${first.what}:\n  more\n    ${more}\n  less\n    ${less}`
    }
    const wrong: string[] = []
    for (const one of probes) {
      const preparations = {
        first: () => forget(ids),
        // After an owner has read it, its rows are in the cache.
        later: async () => {
          for (const { organization } of isShown ? [home, world.other] : []) {
            await organization.owner.client.get(one.path)
          }
        },
      }
      for (const [when, prepare] of Object.entries(preparations)) {
        let difference: string | undefined
        // Background work may disturb one attempt, but not three.
        for (let attempt = 0; attempt === 0 || (difference !== undefined && attempt < 3); attempt += 1) {
          await prepare()
          difference = await probe(one, when)
        }
        if (difference !== undefined) wrong.push(difference)
      }
    }
    return wrong
  }

  test(
    'the same statements for what is missing and what is hidden, whatever was asked before',
    { timeout: 4 * longTimeout },
    async () => {
      const wrong: string[] = []
      let compared = 0
      for (const actor of world.actors) {
        if (actor.kind === 'nobody' || (!isLong && !codes.has(actor.code))) continue
        for (const route of accessRoutes) {
          // This route has several kinds of query, and its own test below.
          if (route.path === effectiveAccess) continue
          const hidden = hiddenFrom(route, actor, world)
          if (hidden.length === 0) continue
          const probes = [...hidden, ...missingFor(route, hidden)]
          if (probes.length === hidden.length) continue
          compared += hidden.length
          const found = probes.map(({ label, target }) => ({
            label,
            path: pathOf(route, target),
            body: route.body?.(target),
          }))
          wrong.push(...(await differences(route, actor, found)))
        }
      }
      expect(wrong.slice(0, 20).join('\n')).toBe('')
      expect(compared).toBeGreaterThan(300)
    },
  )

  test('the same for every form of a question about effective access', { timeout: longTimeout }, async () => {
    const { home, other } = world
    const member = world.actors.find(({ code }) => code === 'MEM') as AccessActor
    const asked = (path: string) => server.admin.get(path).then(({ json }) => json.data)
    const usernameOf = async (id: string) => (await asked(`/users/${id}`)).attributes.username as string
    const { id: projectId, attributes: project } = await asked(`/projects/${home.projectId}`)
    const { organization_name: nowhere = '' } = missingParams
    const account = `api-team_${home.teams.secret.id.slice('team-'.length)}`
    const questions: Record<string, readonly string[]> = {
      user: [
        home.members.open.id,
        home.outsiderId,
        other.members.open.id,
        account,
        ...(await Promise.all(
          [home.members.open.id, home.outsiderId, other.members.open.id].map(usernameOf),
        )),
        missingId(idPrefixes.user),
        'nobody-is-called-so',
      ],
      team: [home.teams.open.id, home.teams.secret.id, other.teams.open.id, missingId(idPrefixes.team)],
      [`user=${member.userId}&workspace`]: [
        home.workspaceName,
        home.workspaceId,
        other.workspaceName,
        other.workspaceId,
        missingId(idPrefixes.workspace),
        'no-such-workspace',
      ],
      [`user=${member.userId}&project`]: [
        projectId,
        project.name,
        other.projectId,
        missingId(idPrefixes.project),
        'no-such-project',
      ],
    }
    const route = accessRoutes.find(({ path }) => path === effectiveAccess) as AccessRoute
    const wrong: string[] = []
    for (const [question, values] of Object.entries(questions)) {
      const probes = [home.organization.name, other.organization.name, nowhere].flatMap((name) =>
        values.map((value) => {
          const path = `/organizations/${name}/effective-access?${question}=${value}`
          return { label: path, path, body: undefined }
        }),
      )
      wrong.push(...(await differences(route, member, probes)))
    }
    expect(wrong.slice(0, 20).join('\n')).toBe('')
  })
})

test('what is read before a decision begins with what is the caller’s', async () => {
  const statements = new Statements('sqlite')
  const server = await startServer('sqlite')
  const { home, actors } = await createAccessWorld(server)
  const { client } = actors.find(({ code }) => code === 'MEM') as AccessActor
  const ran = await statements.of(async () => {
    for (const path of [
      `/workspaces/${home.workspaceId}`,
      `/projects/${home.projectId}`,
      `/organizations/${home.organization.name}/workspaces`,
      `/users/${home.outsiderId}`,
    ]) {
      expect((await client.get(path)).status).toBe(404)
    }
  })
  statements.stop()
  const database = new DatabaseSync(sqliteFile(server.folder), { readOnly: true })
  const stepsOf = (sql: string) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
  // Grants are looked up by the caller's teams, or by the ids of the grants of those teams.
  const ofTeams = 'SEARCH team_members USING INDEX team_members_by_user (user_id=? AND organization_id=?)'
  const ofGrants = [...new Set(ran)].filter((sql) => sql.includes('as "tw"'))
  expect(ofGrants).toHaveLength(3)
  for (const sql of ofGrants) {
    const steps = stepsOf(sql).filter((step) => /^(SCAN|SEARCH)/.test(step))
    expect(steps).toContain(ofTeams)
    for (const step of steps.filter((each) => each !== ofTeams))
      expect(step).toMatch(/team_id=\?|^SEARCH (workspaces|tw|tp) .*\(id=\?\)/)
  }
  // Of a user's memberships, only those in the caller's organizations may be read.
  const [ofShared] = ran.filter((sql) => sql.includes('as "theirs"'))
  const steps = stepsOf(ofShared as string)
  expect(steps.find((step) => step.includes(' theirs '))).toContain('(user_id=? AND organization_id=?)')
  expect(steps.find((step) => step.includes(' own '))).toContain('(user_id=?)')
  database.close()
  await server.stop()
})

test.each(engines)(
  'an act on %s runs the same statements for hidden and missing objects that its body names',
  async (engine) => {
    // Periodic background work must not run during the requests.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const statements = new Statements(engine)
    const server = await startServer(engine)
    const organization = await createTestOrganization(server)
    const team = await createTeam(organization)
    const { client } = await addMember(server, organization, [team])
    const [own, hidden] = [await createWorkspace(organization), await createWorkspace(organization)]
    const hiddenProject = await createProject(organization)
    await grantWorkspace(organization, team, own, { access: 'admin' })
    const consumers = `/workspaces/${own}/relationships/remote-state-consumers`
    const requests = [
      ['POST', consumers, (workspace: string) => ({ data: [{ type: 'workspaces', id: workspace }] })],
      ['DELETE', consumers, (workspace: string) => ({ data: [{ type: 'workspaces', id: workspace }] })],
      ['PATCH', `/workspaces/${own}`, (_: string, id: string) => resource('workspaces', {}, inProject(id))],
    ] as const
    for (const [method, path, bodyFor] of requests) {
      const ask = async (workspace: string, project: string) => {
        // What these refusals leave in the caches must not show.
        expect((await client.get(`/workspaces/${hidden}`)).status).toBe(404)
        expect((await client.get(`/projects/${hiddenProject}`)).status).toBe(404)
        let status = 0
        const ran = await statements.of(async () => {
          ;({ status } = await client.request(method, path, bodyFor(workspace, project)))
        })
        return { status, ran }
      }
      // The first one also reads what the caller may see, which is then in the cache.
      await ask(hidden, hiddenProject)
      const ofHidden = await ask(hidden, hiddenProject)
      expect(ofHidden.status, `${method} ${path}`).toBe(method === 'DELETE' ? 204 : 422)
      const ofMissing = await ask(missingId(idPrefixes.workspace), missingId(idPrefixes.project))
      expect(ofHidden, `${method} ${path}`).toEqual(ofMissing)
    }
    vi.useRealTimers()
    statements.stop()
    await server.stop()
  },
)

test(
  'a repeated refusal on SQLite finds rows with as many statements for what is missing as for what is hidden',
  async () => {
    const statements = new Statements('sqlite')
    const server = await startServer('sqlite')
    const world = await createAccessWorld(server)
    const wrong: string[] = []
    let compared = 0
    for (const actor of world.actors.filter(({ code }) => codes.has(code))) {
      for (const route of accessRoutes) {
        const hidden = hiddenFrom(route, actor, world)
        if (hidden.length === 0) continue
        const foundFor = async (target: Target): Promise<string[]> => {
          let status = 0
          const ask = async () => {
            const path = pathOf(route, target)
            ;({ status } = await actor.client.request(route.method, path, route.body?.(target)))
          }
          await ask()
          const found = await statements.foundBy(ask)
          return status === 404 || status === 422 ? found : [...found, `status ${status}`]
        }
        const [first, ...others] = [...hidden, ...missingFor(route, hidden)]
        if (first === undefined || others.length < hidden.length) continue
        let expected = await foundFor(first.target)
        for (const { label, target } of others) {
          let found = await foundFor(target)
          // Refusals are written meanwhile, and the cache forgets its rows at each commit.
          for (let attempt = 0; attempt < 3 && found.join() !== expected.join(); attempt += 1) {
            expected = await foundFor(first.target)
            found = await foundFor(target)
          }
          compared += 1
          const different = [...without(found, expected), ...without(expected, found)]
          const what = `${route.method} ${route.path} · ${actor.name} · ${label} against ${first.label}`
          if (different.length > 0) wrong.push(`${what}: ${different.join('; ')}`)
        }
      }
    }
    statements.stop()
    await server.stop()
    expect(wrong.join('\n')).toBe('')
    expect(compared).toBeGreaterThan(300)
  },
  4 * longTimeout,
)

type Named = { label: string; target: Target }

function hiddenFrom(route: AccessRoute, actor: AccessActor, { other }: AccessWorld): Named[] {
  const own = targetsOf(route, actor.home, actor)
    .filter((target) => !isAllowed(target.permission ?? route.permission, actor, actor.columns, target))
    .map((target) => ({ label: target.label || 'hidden', target }))
  const [one] = targetsOf(route, other, actor)
  if (one === undefined || !isAbout(route) || other === actor.home) return own
  return isAllowed(one.permission ?? route.permission, actor, actor.elsewhere, one)
    ? own
    : [...own, { label: "another's", target: one }]
}

/** Whether the request names an object that may be missing. */
function isAbout({ path, query, method }: AccessRoute): boolean {
  return path.includes(':') || query !== undefined || (method === 'POST' && path.startsWith('/team-'))
}

function missingFor(route: AccessRoute, [hidden]: readonly Named[]): Named[] {
  const { target } = hidden as Named
  const missing = { label: 'missing', target: { ...target, params: { ...target.params, ...missingParams } } }
  if (!route.path.includes(':workspace_name')) return isAbout(route) ? [missing] : []
  const { workspace_name: name = '' } = missingParams
  const inPlace = { ...target, params: { ...target.params, workspace_name: name } }
  return [missing, { label: 'missing there', target: inPlace }]
}

function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return all.filter((one) => {
    const place = left.indexOf(one)
    if (place !== -1) left.splice(place, 1)
    return place === -1
  })
}
