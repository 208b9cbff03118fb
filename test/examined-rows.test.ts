import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import type { Route } from '../src/http/route.ts'
import { ExaminedRows } from './support/examined-rows/examined-rows.ts'
import { createGrownWorld, type GrownWorld } from './support/examined-rows/grown-world.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { processed } from './support/states.ts'

const ROWS_OF_A_REQUEST = 1_000
const ROWS_FOR_EACH = 20

/**
 * What counts, sorts or searches all that a list has, by its parameters: see "Why some first pages grow" in
 * docs/internals/scaling.md. Without parameters: every page. On SQLite they run in a thread, where they keep nobody waiting.
 */
const growing: Readonly<Record<string, readonly string[]>> = {
  '/organizations': ['q', 'q[email]', 'q[name]'],
  '/organizations/:organization_name': ['include'],
  '/organizations/:organization_name/organization-memberships': ['q', 'filter[status]'],
  '/organizations/:organization_name/teams': ['q'],
  '/teams/:team_id/relationships/organization-memberships': [],
  '/admin/users': [],
  '/admin/organizations': [],
  '/organizations/:organization_name/projects': [],
  '/projects/:project_id': [],
  '/organizations/:organization_name/team-tokens': [],
  '/organizations/:organization_name/workspaces': [],
  '/organizations/:organization_name/tags': [],
  '/workspaces/:workspace_id': ['include'],
  '/organizations/:organization_name/workspaces/:workspace_name': ['include'],
  '/team-workspaces': [],
  '/organizations/:organization_name/effective-access': [],
  '/teams/:team_id/access-grants': [],
  '/teams/:team_id/authentication-tokens': [],
  '/workspaces/:workspace_id/access-grants': [],
  '/workspaces/:workspace_id/output-versions': [],
  '/workspaces/:workspace_id/access-holders': [],
  '/projects/:project_id/access-holders': [],
  '/organizations/:organization_name/refusals': ['filter[request-id]', 'filter[lacks-permission]'],
  '/organizations/:organization_name/audit-events': [],
  '/organization/audit-trail': [],
}

function grows(path: string, asks: string): boolean {
  const names = growing[path]
  return names !== undefined && (names.length === 0 || names.includes(asks))
}

/**
 * The names of teams are read once, some in each turn of the event loop, and the sum of the caller's own grants is kept.
 * Refusals are written each second, beside other requests.
 */
const kept =
  /^select json_group_array\(name|from "team_name_blocks"|select distinct 'workspace' as "on"|^select "id" from "teams" where "id" in \([^)]*\) and \(?exists \(select "given"/

type Caller = keyof GrownWorld['callers']

/** Who may ask: whoever may is asked for, so that no list is examined only as its refusal. */
function callersOf(path: string): readonly Caller[] {
  if (path.startsWith('/admin/')) return ['administrator']
  if (path === '/organization/audit-trail') return ['audit token']
  return path === '/organizations' ? ['owner', 'member', 'administrator'] : ['owner', 'member']
}

onEachEngine('an organization with 200,000 teams, 20,000 workspaces and 5,000 members', (server, engine) => {
  let world: GrownWorld
  let examined: ExaminedRows
  beforeAll(async () => {
    world = await createGrownWorld(server)
    examined = await ExaminedRows.on(server)
  })
  afterAll(() => examined.close())

  /** The paths of a route, with all values of its parameters. */
  const pathsOf = (path: string): string[] => {
    const name = /:(\w+)/.exec(path)?.[1]
    if (name === undefined) return [path]
    const values = world.values[name] ?? []
    expect(values, `the world has no ${name}`).not.toEqual([])
    return values.flatMap((value) => pathsOf(path.replace(`:${name}`, value)))
  }

  /** The queries of a route: each parameter with its values, one by one, beside the required ones. */
  const queriesOf = ({ path, query = {}, isList }: Route): { asks: string; text: string }[] => {
    const valuesOf = (name: string): readonly string[] => {
      const { values = ['zzz'], isList: takesMany } = query[name] ?? {}
      if (world.values[name] !== undefined) return world.values[name]
      if (takesMany) return [values.join(',')]
      return values.length > 2 ? [values[0] ?? '', values.at(-1) ?? ''] : values
    }
    let required = ['']
    for (const [name, { isRequired }] of Object.entries(query)) {
      if (isRequired !== true) continue
      required = required.flatMap((before) => valuesOf(name).map((value) => `${before}&${name}=${value}`))
    }
    if (path.endsWith('/effective-access')) {
      required = ['user', 'team'].flatMap((name) => valuesOf(name).map((value) => `&${name}=${value}`))
    }
    const asked = Object.keys(query)
      .filter((name) => !required[0]?.includes(`&${name}=`) && !['user', 'team'].includes(name))
      .flatMap((name) => valuesOf(name).map((value) => ({ asks: name, text: `&${name}=${value}` })))
    if (isList === true) asked.push({ asks: 'page', text: '&page[number]=2&page[size]=100' })
    return required.flatMap((before) =>
      [{ asks: '', text: '' }, ...asked].map(({ asks, text }) => ({ asks, text: before + text })),
    )
  }

  test('no read examines more than 20 rows for each that it returns, plus 1,000, unless it says so', async () => {
    const found: string[] = []
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      for (const path of pathsOf(route.path)) {
        for (const { asks, text } of queriesOf(route)) {
          const isGrowing = grows(route.path, asks)
          // Only on SQLite others may wait for it.
          if (isGrowing && engine === 'postgres') continue
          for (const who of callersOf(path)) {
            const url = `${path}?${text.slice(1)}`
            let [status, returned] = [0, 0]
            const request = async () => {
              const answer = await processed(world.callers[who], url)
              status = answer.status
              returned = (answer.text.match(/"type":/g) ?? []).length
            }
            const { rows, worst } = await examined.by(
              request,
              (ran) => !(isGrowing && ran.isSlow) && !kept.test(ran.text),
            )
            expect([200, 307, 404], `${who} asked for ${url}: the world needs a value`).toContain(status)
            if (rows > ROWS_OF_A_REQUEST + ROWS_FOR_EACH * returned) {
              found.push(`${who} ${url}: ${rows} rows for ${returned}, most by ${worst}`)
            }
          }
        }
      }
    }
    expect(found).toEqual([])
  }, 600_000)
})
