import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import { createHome, type Home } from './support/access-home.ts'
import { accessRoutes, type AccessRoute } from './support/access-requests.ts'
import { missingId, pathOf, targetsOf } from './support/access-targets.ts'
import type { Response } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { undoWrites } from './support/undone-writes.ts'

/** For each type of body: the path parameters that name the object of that body. */
const named: Readonly<Record<string, readonly string[]>> = {
  organizations: [':organization_name'],
  'organization-memberships': [':organization_membership_id'],
  teams: [':team_id'],
  users: [':user_id'],
  projects: [':project_id'],
  workspaces: [':workspace_id', ':workspace_name'],
  'team-workspaces': [':team_workspace_id'],
  'team-projects': [':team_project_id'],
  'state-versions': [':state_version_id'],
}

describe.each(engines)("a body's id on %s", (engine) => {
  let server: TestServer
  let home: Home
  beforeAll(async () => {
    server = await startServer(engine)
    home = await createHome(server)
    undoWrites(server.app.deps.database)
  })
  afterAll(() => server.stop())

  const ask = (route: AccessRoute, data: object): Promise<Response> => {
    const asker = { code: 'OWN', home, teamIds: [], isTeamToken: false }
    const client = route.path.startsWith('/admin') ? server.admin : home.organization.owner.client
    const [target] = targetsOf(route, home, asker)
    if (target === undefined) throw new Error(`nothing to ask ${route.path} about`)
    return client.request(route.method, pathOf(route, target), { data })
  }

  test('must be that of the path, on every route whose body is about what the path names', async () => {
    const checked: string[] = []
    for (const route of accessRoutes) {
      const type = typeOf(route)
      if (type === undefined || !(named[type] ?? []).some((name) => route.path.includes(name))) continue
      // The owner has no invitation to accept.
      if (route.path.endsWith('/actions/accept')) continue
      const name = `${route.method} ${route.path}`
      checked.push(name)
      for (const id of [missingId('ws'), 7, null]) {
        const answer = await ask(route, { type, id })
        expect(answer.status, name).toBe(422)
        expect(answer.json.errors, name).toContainEqual({
          status: '422',
          title: expect.any(String),
          detail: 'id must be equal to the id in the path',
          source: { pointer: '/data/id' },
        })
      }
      expect((await ask(route, { type, id: '' })).text, name).not.toContain('/data/id')
    }
    expect(checked).toContain('POST /workspaces/:workspace_id/actions/lock')
    expect(checked).toContain('PATCH /organizations/:organization_name/workspaces/:workspace_name')
    expect(checked.length).toBeGreaterThan(15)
  })

  test('may be that of the path: a lock of the workspace itself is made, by id and by name', async () => {
    const { client } = home.organization.owner
    const data = { type: 'workspaces', id: home.workspaceId }
    for (const path of [
      `/workspaces/${home.workspaceId}`,
      `/organizations/${home.organization.name}/workspaces/${home.workspaceName}`,
    ]) {
      expect((await client.post(`${path}/actions/lock`, { data })).status).toBe(200)
      expect((await client.patch(path, { data })).status).toBe(200)
    }
  })
})

/** The type of the resource in a route's body, if the body is a single resource. */
function typeOf({ method, path }: AccessRoute): string | undefined {
  const route = routes.find((one) => one.method === method && one.path === path)
  const accepts = route !== undefined && 'accepts' in route ? route.accepts : undefined
  return accepts !== undefined && 'type' in accepts ? accepts.type : undefined
}
