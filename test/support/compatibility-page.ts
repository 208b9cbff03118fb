import { readdirSync, readFileSync } from 'node:fs'
import { rawRoutes, routes } from '../../src/app.ts'

type Operation = { method: string; path: string; name: string }

const tests = new URL('..', import.meta.url)
const platform = JSON.parse(
  readFileSync(new URL('data/platform-operations.json', tests), 'utf8'),
) as Operation[]

/** What is there and does not do what the platform does, and why. */
const differences: Record<string, string> = {
  'PATCH /organizations/:organization_name':
    'settings that rule nothing here are kept and echoed; nothing runs remotely',
  'GET /organizations/:organization_name/entitlement-set':
    '`operations` is false: runs happen where the CLI is',
  'POST /organizations/:organization_name/teams':
    'two dialects (`PURSER_DIALECT`); `documented` has the fourteen flags of the specification',
  'PATCH /teams/:team_id': 'two dialects (`PURSER_DIALECT`); the team `owners` cannot be changed',
  'GET /organizations/:organization_name/teams': 'the `documented` dialect lists nine of the flags',
  'POST /workspaces/:workspace_id/state-versions':
    'a state that is broken is refused with 422 before anything is stored',
  'PATCH /workspaces/:workspace_id': 'settings of remote runs are kept and echoed, and rule nothing',
  'GET /users/:user_id': 'the email is for oneself and for site administrators',
}

/** Why something is not there, by the beginning of its path. */
const absences: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\/vars|\/runs|ssh-key/, 'nothing runs on the server'],
  [/tag-bindings/, 'clients go on without it when it answers 404'],
  [
    /remote-state-consumers/,
    'whoever may read outputs is said by team access; clients take 404 for global sharing',
  ],
  [/data-retention|backing_data/, 'not yet; old versions go by `PURSER_STATE_VERSIONS_KEPT`'],
  [/saml-settings/, 'no SAML'],
  [/^\/account\//, 'users are administered by `admin/users`'],
]

const shape = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  `${method} ${path.replace(/:[a-z_]+/g, ':')}`

/** docs/compatibility.md: the platform's operations on teams, outputs and their neighbours, and what becomes of each here. */
export function compatibilityPage(): string {
  const own = [
    ...routes.map(({ method, path, summary }) => ({ method, path, name: summary })),
    ...rawRoutes.map(({ method, path, summary }) => ({
      method,
      path: path.replace(/^\/api\/v2/, ''),
      name: summary,
    })),
  ]
  const served = new Set(own.map(shape))
  const known = new Set(platform.map(shape))
  const reasons = new Map(Object.entries(differences).map(([key, reason]) => [shape(split(key)), reason]))
  const shown = shownBy()
  const row = (operation: Operation) => {
    const key = shape(operation)
    const isServed = served.has(key)
    const reason = isServed
      ? reasons.get(key)
      : absences.find(([pattern]) => pattern.test(operation.path))?.[1]
    const state = !isServed ? 'not there' : reason === undefined ? 'implemented' : 'different on purpose'
    const tested = isServed ? shown(operation) : ''
    return `| ${operation.name} | \`${operation.method} ${operation.path}\` | ${state}${reason === undefined ? '' : `: ${reason}`} | ${tested} |`
  }
  const count = platform.filter((operation) => served.has(shape(operation))).length
  const head = (last: string) => `| operation | request | ${last} | shown by |\n|---|---|---|---|\n`
  return [
    '# Compatibility\n\n',
    'Printed by `npm run docs` from the routes and the tests. Paths are below `/api/v2`, but for discovery and uploads. What is not there answers 404, never 5xx. ',
    'Every route is also in test/access-matrix.test.ts (who may), test/fuzz.test.ts (nothing breaks it) and, with every answer that any test gets, held against the OpenAPI document.\n\n',
    `Of ${platform.length} operations of teams, state outputs and their neighbours, ${count} are here.\n\n`,
    head('here'),
    ...platform.map((operation) => `${row(operation)}\n`),
    "\n## Purser's own\n\n",
    head('here'),
    ...own.filter((operation) => !known.has(shape(operation))).map((operation) => `${row(operation)}\n`),
  ].join('')
}

function split(key: string): Pick<Operation, 'method' | 'path'> {
  const [method = '', path = ''] = key.split(' ')
  return { method, path }
}

/** The test file that sends a request, found by how it writes it: `.get('/teams/…')`, `.request('PUT', …)`. */
function shownBy(): (operation: Operation) => string {
  const sources = readdirSync(tests)
    .filter((file) => file.endsWith('.test.ts'))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(new URL(file, tests), 'utf8').replace(/\$\{[^{}]*\}/g, 'X') }))
  return ({ method, path }) => {
    const place = path.replace(/[.?]/g, '\\$&').replace(/:[a-z_]+/g, '[^/\\s\'"`?]+')
    const call = `\\.${method.toLowerCase()}\\(\\s*['"\`]${place}['"\`?]`
    const request = `['"]${method}['"],\\s*['"\`](X)?(/api/v2)?${place}['"\`?]`
    const pattern = new RegExp(`${call}|${request}`)
    // Of several the one that is named after what the path is about.
    const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
    const fit = (file: string) => words.filter((word) => file.includes(word.replace(/s$/, ''))).length
    const [best] = sources
      .filter(({ text }) => pattern.test(text))
      .toSorted((a, b) => fit(b.file) - fit(a.file))
    return best?.file ?? (isRoute(method, path) ? 'access-matrix.test.ts' : 'fuzz.test.ts')
  }
}

function isRoute(method: string, path: string): boolean {
  return routes.some((route) => shape(route) === shape({ method, path }))
}
