import { beforeAll, expect, test } from 'vitest'
import { rawRoutes } from '../src/app.ts'
import { createHome, type Home } from './support/access-home.ts'
import { accessRoutes } from './support/access-requests.ts'
import { missingParams, pathOf, targetsOf } from './support/access-targets.ts'
import type { Client, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { addMember, createUser } from './support/world.ts'

/** Lists of refusals, audit events and tokens grow through the requests of this test. */
const MOST_TRIES = 5

onEachEngine('HEAD', (server) => {
  let home: Home
  beforeAll(async () => {
    home = await createHome(server)
  })

  test('answers as GET does, without the body, on every route and for every kind of caller', async () => {
    const { organization } = home
    const callers = {
      'no token': server.client(),
      outsider: (await createUser(server)).client,
      member: (await addMember(server, organization)).client,
      owner: organization.owner.client,
    }
    const statuses = new Set<number>()
    const different: string[] = []
    for (const [caller, client] of Object.entries(callers)) {
      for (const path of pathsOf(home)) {
        const { problem, status } = await compare(client, path)
        statuses.add(status)
        if (problem !== undefined) different.push(`${caller} ${path}: ${problem}`)
      }
    }
    expect(different).toEqual([])
    expect(statuses).toEqual(new Set([200, 401, 404]))
  })

  test('answers as GET does where no token is asked for', async () => {
    const paths = rawRoutes.filter(({ method }) => method === 'GET').map(({ path }) => path)
    expect(paths).toContain('/readyz')
    for (const path of paths) {
      const { problem, status } = await compare(server.client(), server.address + path)
      expect(problem, path).toBeUndefined()
      expect(status, path).toBeLessThan(400)
    }
  })

  test('of a document that the client has is 304, and of what is not there or takes no GET what GET says', async () => {
    const { organization, workspaceId } = home
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`
    const { client } = organization.owner
    const etag = (await client.get(path)).headers.get('etag') as string
    const known = await client.request('HEAD', path, undefined, { 'if-none-match': etag })
    expect(known.status).toBe(304)
    for (const other of ['/nothing', '/ping/pong', `/workspaces/${workspaceId}/actions/lock`]) {
      expect((await compare(client, other)).problem).toBeUndefined()
      expect((await compare(server.client(), other)).problem).toBeUndefined()
    }
  })
})

/** The path of each GET of the access matrix, for existing and missing objects. */
function pathsOf(home: Home): Set<string> {
  const asker = { code: '', home, teamIds: [], isTeamToken: false }
  const paths = accessRoutes
    .filter(({ method }) => method === 'GET')
    .flatMap((route) => {
      const own = targetsOf(route, home, asker)
      const missing = { label: '', params: { ...own[0]?.params, ...missingParams } }
      return [...own, missing].map((target) => pathOf(route, target))
    })
  return new Set(paths)
}

async function compare(client: Client, path: string): Promise<{ problem?: string; status: number }> {
  for (let tries = 1; ; tries++) {
    const get = await client.get(path)
    const head = await client.request('HEAD', path)
    const { status } = head
    if (head.text !== '') return { status, problem: `a body: ${head.text}` }
    if (headOf(get) === headOf(head)) return { status }
    if (tries === MOST_TRIES) return { status, problem: `${headOf(head)} instead of ${headOf(get)}` }
  }
}

/**
 * Status and headers. An answer without a body may leave out the framing headers (RFC 9110, 9.3.2). `fetch` asks to
 * close the connection with every HEAD.
 */
function headOf({ status, headers }: Response): string {
  const own = ['date', 'x-request-id', 'transfer-encoding', 'connection', 'keep-alive']
  return JSON.stringify([status, ...[...headers].filter(([name]) => !own.includes(name))])
}
