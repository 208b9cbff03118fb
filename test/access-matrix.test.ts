import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { rules } from '../src/access/rules.ts'
import { routes } from '../src/app.ts'
import { idPrefixes } from '../src/core/ids.ts'
import { accessRoutes, type AccessRoute } from './support/access-requests.ts'
import { isAllowed, tablePermissions, type Target } from './support/access-table.ts'
import { missingId, missingParams, pathOf, targetsOf } from './support/access-targets.ts'
import { createAccessWorld, type AccessActor, type AccessWorld } from './support/access-world.ts'
import type { Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { undoWrites } from './support/undone-writes.ts'

const file = new URL('../docs/access-matrix.txt', import.meta.url)
const PARALLEL = 16

/** The answers for one line: for an object that is `own`, `another's` or `missing`, per caller that has one. */
type Line = {
  route: AccessRoute
  where: 'own' | "another's" | 'missing'
  label: string
  cells: Map<AccessActor, Seen>
}
type Seen = { target: Target; response: Response; missing: Response }

onEachEngine('access', (server, engine) => {
  let world: AccessWorld
  let lines: Line[]
  beforeAll(async () => {
    world = await createAccessWorld(server)
    undoWrites(server.app.deps.database)
    lines = await drive(world)
  })

  test('the table has every permission of the rules, and no other', () => {
    const named = tablePermissions.filter((name) => name !== 'workspace:manage everywhere')
    expect(named).toEqual(Object.keys(rules))
  })

  test('every route is in the table', () => {
    const known = new Set(accessRoutes.map(({ method, path }) => `${method} ${path}`))
    const missing = routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !known.has(route))
    expect(missing.map((route) => `add a row for ${route} to test/support/access-requests.ts`)).toEqual([])
    expect(
      [...known].filter((one) => !routes.some(({ method, path }) => one === `${method} ${path}`)),
    ).toEqual([])
  })

  test('everyone may do what the table says, and no more', () => {
    const wrong: string[] = []
    for (const { route, where, label, cells } of lines) {
      for (const [actor, { target, response }] of cells) {
        const held = where === 'own' ? actor.columns : actor.elsewhere
        const expected =
          actor.kind === 'nobody'
            ? '401'
            : where !== 'missing' && isAllowed(target.permission ?? route.permission, actor, held, target)
              ? 'allowed'
              : where !== 'missing' && isShownAnyway(route, actor, held, target)
                ? 'refused'
                : 'hidden'
        const isRefused = response.status === 403 && !response.text.includes('must keep an owner')
        const seen =
          response.status === 401
            ? '401'
            : isHidden(route, response)
              ? 'hidden'
              : isRefused
                ? 'refused'
                : 'allowed'
        if (seen !== expected) {
          wrong.push(
            `${titleOf(route, where, label)} · ${actor.name}: ${expected}, but ${response.status} ${response.text.slice(0, 150)}`,
          )
        }
      }
    }
    expect(wrong).toEqual([])
  })

  test('what is hidden answers as what is missing does, byte for byte', () => {
    const different: string[] = []
    let compared = 0
    for (const { route, where, label, cells } of lines) {
      for (const [actor, { response, missing }] of cells) {
        if (where === 'missing' || actor.kind === 'nobody' || !isHidden(route, response)) continue
        compared += 1
        if (wireOf(response) !== wireOf(missing)) {
          different.push(
            `${titleOf(route, where, label)} · ${actor.name}: ${wireOf(response)} instead of ${wireOf(missing)}`,
          )
        }
      }
    }
    expect(different).toEqual([])
    expect(compared).toBeGreaterThan(1_000)
  })

  test('every route is seen to do its work, and its document is as the OpenAPI document says', () => {
    const isDone = (line: Line) => [...line.cells.values()].some(({ response }) => response.status < 300)
    const done = new Set(lines.filter(isDone).map(({ route: { method, path } }) => `${method} ${path}`))
    const never = routes.map(({ method, path }) => `${method} ${path}`).filter((route) => !done.has(route))
    // Not possible here: nobody holds a lock, the workspace has a state, and the project has a workspace. Only
    // somebody with a session gets a login code or gives a password again. These tests cover the routes with the same client:
    // login, recovery, projects, workspaces, state-versions and state-rollback.
    expect(never).toEqual([
      'POST /account/password-checks',
      'POST /account/login-codes',
      'DELETE /projects/:project_id',
      'POST /workspaces/:workspace_id/actions/unlock',
      'POST /workspaces/:workspace_id/actions/force-unlock',
      'POST /workspaces/:workspace_id/state-versions',
      'PATCH /workspaces/:workspace_id/state-versions',
    ])
  })

  test('the printed matrix is up to date (npm run docs prints it)', () => {
    const text = print(world, lines)
    if (process.env.PURSER_TEST_UPDATE === '1' && engine === 'sqlite') writeFileSync(file, text)
    expect(text).toBe(readFileSync(file, 'utf8'))
  })
})

/** Sends every request of the matrix. Writes are rolled back, so that all callers see the same world. */
async function drive({ actors, other }: AccessWorld): Promise<Line[]> {
  const lines = new Map<string, Line>()
  const jobs: (() => Promise<void>)[] = []
  for (const route of accessRoutes) {
    for (const actor of actors) {
      const own = targetsOf(route, actor.home, actor)
      const missing = { ...(own[0] as Target), params: { ...(own[0] as Target).params, ...missingParams } }
      const hasObject = isAbout(route)
      let usual: Promise<Response> | undefined
      // For a new grant in the caller's own organization, the team is the object that may be hidden.
      const missingFor = (where: Line['where'], { params }: Target): Promise<Response> =>
        where === 'own' && route.body !== undefined && !route.path.includes(':')
          ? send(route, actor, { ...missing, params: { ...params, teams: missingId(idPrefixes.team) } })
          : (usual ??= send(route, actor, missing))
      const wanted: [Line['where'], Target][] = own.map((target) => ['own', target])
      if (hasObject)
        wanted.push(["another's", targetsOf(route, other, actor)[0] as Target], ['missing', missing])
      for (const [where, target] of wanted) {
        const label = where === 'own' ? target.label : ''
        const key = titleOf(route, where, label)
        let line = lines.get(key)
        if (line === undefined) lines.set(key, (line = { route, where, label, cells: new Map() }))
        const { cells } = line
        jobs.push(async () => {
          const response = await (where === 'missing'
            ? missingFor(where, target)
            : send(route, actor, target))
          const isCompared = where !== 'missing' && hasObject && isHidden(route, response)
          const reference = isCompared ? await missingFor(where, target) : response
          cells.set(actor, { target, response, missing: reference })
        })
      }
    }
  }
  const work = async () => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) await job()
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return [...lines.values()]
}

/** Whether the request names an object that may be another's or missing. */
function isAbout({ path, query, method }: AccessRoute): boolean {
  return path.includes(':') || query !== undefined || (method === 'POST' && path.startsWith('/team-'))
}

function send(route: AccessRoute, { client }: AccessActor, target: Target): Promise<Response> {
  return client.request(route.method, pathOf(route, target), route.body?.(target))
}

/** Removing a membership that the caller can see is 403, because the caller knows that it exists. */
function isShownAnyway(
  { permission }: AccessRoute,
  actor: AccessActor,
  held: readonly string[],
  target: Target,
) {
  return permission === 'membership:remove' && isAllowed('membership:read', actor, held, target)
}

/** The body names the workspace or project of a grant, and its team. */
function isHidden({ path, method }: AccessRoute, { status }: Response): boolean {
  return status === 404 || (status === 422 && method === 'POST' && path.startsWith('/team-'))
}

function wireOf({ status, headers, text }: Response): string {
  const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
  return JSON.stringify([status, kept, text])
}

function titleOf({ method, path, note }: AccessRoute, where: string, label: string): string {
  const about = where === 'own' ? label : where
  return `${method} ${path}${note === undefined ? '' : ` (${note})`}${about === '' ? '' : ` · ${about}`}`
}

function print({ actors }: AccessWorld, lines: readonly Line[]): string {
  const width = Math.max(...lines.map(({ route, where, label }) => titleOf(route, where, label).length))
  const row = (title: string, cells: readonly string[]) =>
    `${title.padEnd(width)}  ${cells
      .map((cell) => cell.padEnd(4))
      .join('')
      .trimEnd()}\n`
  const cellOf = (response: Response | undefined) => {
    if (response === undefined) return ''
    return response.status === 404 ? '–' : response.status < 300 ? 'Y' : String(response.status)
  }
  const head = row(
    '',
    actors.map(({ code }) => code),
  )
  const table = lines.map((line) =>
    row(
      titleOf(line.route, line.where, line.label),
      actors.map((actor) => cellOf(line.cells.get(actor)?.response)),
    ),
  )
  return [
    'Who may do what: printed by test/access-matrix.test.ts from the answers of a running server; `npm run docs` prints it anew.\n',
    'Y done · – 404, as if it were not there · 401 no token that is in force · other numbers: let through, and refused for another reason\n',
    "(blank: the caller has no such thing). Without a word, the thing is one of the caller's own organization.\n\n",
    ...actors.map(({ code, name }) => `${code.padEnd(4)} ${name}\n`),
    '\n',
    head,
    ...table,
  ].join('')
}
