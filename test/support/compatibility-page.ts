import { readdirSync, readFileSync } from 'node:fs'
import { rawRoutes, routes } from '../../src/app.ts'

type Operation = { method: string; path: string; name: string }

const tests = new URL('..', import.meta.url)
const platform = JSON.parse(
  readFileSync(new URL('data/platform-operations.json', tests), 'utf8'),
) as Operation[]

const conformance = new URL('../conformance/', tests)
/** The program that shows each operation, by client. `npm run conformance -- --record` writes this file. */
export const programs = JSON.parse(readFileSync(new URL('requests.json', conformance), 'utf8')) as Record<
  string,
  Record<string, string>
>

type Difference = {
  dialect: string
  clients: string[]
  resource: string
  attribute: string
  sent: unknown
  read: unknown
  reason: string
}
/**
 * Values that the tfe provider reads back differently than it sent them. The programs in conformance/ fail for others,
 * and for listed ones that no longer happen.
 */
const providerDifferences = JSON.parse(
  readFileSync(new URL('differences.json', conformance), 'utf8'),
) as Difference[]

/** Operations that exist here but differ from the platform, and why. */
const differences: Record<string, string> = {
  'PATCH /organizations/:organization_name':
    'settings that rule nothing here are kept and echoed; nothing runs remotely',
  'GET /organizations/:organization_name/entitlement-set':
    '`operations` is false: runs happen where the CLI is',
  'POST /organizations/:organization_name/teams':
    'two dialects (`PURSER_DIALECT`); `documented` has the fourteen flags of the documentation',
  'PATCH /teams/:team_id': 'two dialects (`PURSER_DIALECT`); the team `owners` cannot be changed',
  'GET /organizations/:organization_name/teams': 'the `documented` dialect lists nine of the flags',
  'POST /workspaces/:workspace_id/state-versions':
    'a state that is broken is refused with 422 before anything is stored',
  'PATCH /workspaces/:workspace_id/state-versions':
    'the serial is rewritten in the file too; a state that OpenTofu has encrypted is refused with 422',
  'POST /state-versions/:state_version_id/actions/soft_delete_backing_data':
    'when it is deleted for good is a setting of the server (`PURSER_DELETED_STATE_DAYS`)',
  'POST /organizations/:organization_name/workspaces':
    'settings of remote runs are kept and echoed, and rule nothing; nothing is destroyed here, whatever `auto-destroy-at` and `auto-destroy-activity-duration` say',
  'PATCH /workspaces/:workspace_id':
    'settings of remote runs are kept and echoed, and rule nothing; nothing is destroyed here, whatever `auto-destroy-at` and `auto-destroy-activity-duration` say',
  'POST /organizations/:organization_name/projects':
    '`auto-destroy-activity-duration` is kept and echoed, for its workspaces too; nothing is destroyed here',
  'PATCH /projects/:project_id':
    '`auto-destroy-activity-duration` is kept and echoed, for its workspaces too; nothing is destroyed here',
  'PATCH /organizations/:organization_name/token-ttl-policies':
    'a token that is too old is refused, not revoked; from a minute to a hundred years',
  'GET /organizations/:organization_name/tags': 'only tags of workspaces that the caller may see',
  'GET /workspaces/:workspace_id/relationships/remote-state-consumers':
    'kept and listed as far as the caller may see; who may read a state is said by team access alone',
  'GET /users/:user_id': 'the email is for oneself and for site administrators',
}

/** Why an operation does not exist here, by the beginning of its path. */
const absences: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/\/vars|\/runs|\/capacity|ssh-key/, 'nothing runs on the server'],
  [
    /^\/authentication-tokens/,
    'in the description of go-tfe v2 alone; a token is created at the address of its owner',
  ],
  [/data-retention/, 'not yet; old versions go by `PURSER_STATE_VERSIONS_KEPT`'],
  [/saml-settings/, 'no SAML'],
  [/^\/account\//, 'users are administered by `admin/users`'],
]

const shape = ({ method, path }: Pick<Operation, 'method' | 'path'>) =>
  `${method} ${path.replace(/:[a-z_]+/g, ':')}`

/** docs/compatibility.md: the platform's operations on teams, outputs and related objects, and which exist here. */
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
    const state = !isServed
      ? 'not implemented'
      : reason === undefined
        ? 'implemented'
        : 'different on purpose'
    const tested = isServed ? [shown(operation), ...programsOf(operation)].join('; ') : ''
    return `| ${operation.name} | \`${operation.method} ${operation.path}\` | ${state}${reason === undefined ? '' : `: ${reason}`} | ${tested} |`
  }
  const count = platform.filter((operation) => served.has(shape(operation))).length
  const head = (last: string) => `| operation | request | ${last} | shown by |\n|---|---|---|---|\n`
  return [
    '# Compatibility\n\n',
    'Printed by `npm run docs` from the routes and the tests. All paths are below `/api/v2`, except discovery and uploads. A route that is not implemented answers 404, never 5xx. ',
    '`TestReplayOfTheProvider` and the other names without a file are programs in conformance/ that drive the server with a real client. ',
    'Every route is also tested by test/access-matrix.test.ts (who may use it) and test/fuzz.test.ts (random requests). Every answer that any test gets is compared with the OpenAPI document.\n\n',
    `Of ${platform.length} operations about teams, state outputs and related objects, ${count} are implemented.\n\n`,
    head('here'),
    ...platform.map((operation) => `${row(operation)}\n`),
    "\n## Purser's own\n\n",
    head('here'),
    ...own.filter((operation) => !known.has(shape(operation))).map((operation) => `${row(operation)}\n`),
    providerSection(),
    ownTestsSection(),
  ].join('')
}

/** The tests of go-tfe's authors that fail here, by reason. */
function ownTestsSection(): string {
  const { files, filesNotRun, failing } = JSON.parse(
    readFileSync(new URL('own-tests.json', conformance), 'utf8'),
  ) as { files: string[]; filesNotRun: Record<string, string>; failing: Record<string, string> }
  const byReason = Map.groupBy(Object.entries(failing), ([, reason]) => reason)
  const rows = [...byReason].map(
    ([reason, tests]) => `| ${reason} | ${tests.map(([name]) => `\`${name}\``).join(', ')} |\n`,
  )
  return [
    "\n## go-tfe's own tests\n\n",
    `conformance/own-tests.ts runs the integration tests of go-tfe ${pinned('go-tfe', 'github.com/hashicorp/go-tfe')} against a server in the dialect \`current\`: `,
    `those of ${files.length} files, about organizations, memberships, teams, tokens, access, projects, workspaces, states and users. `,
    `The other files are about features that Purser does not have (${[...new Set(Object.values(filesNotRun))].join('; ')}). `,
    'The following tests fail as expected. The run fails if one of them passes, or if another one fails:\n\n',
    '| why | tests |\n|---|---|\n',
    ...rows,
    '\n## OpenTofu and Terraform\n\n',
    `conformance/tofu runs OpenTofu ${openTofuVersion()} in the dialect \`documented\` and OpenTofu ${openTofuVersion('tofu-1.10')} in \`current\`, on SQLite and on PostgreSQL, and logs in with Terraform ${pinned('terraform', 'github.com/hashicorp/terraform')}, the last version under the MPL. `,
    '`PURSER_TEST_TERRAFORM=path npm run conformance` does the same with the Terraform at that path.\n',
    '\n## Clients in Python\n\n',
    `conformance/python uses every implemented route with HashiCorp's ${inPython('pytfe')}, with ${inPython('terrasnek')}, and with ${inPython('pytfc')} as far as that client goes, on SQLite and on PostgreSQL, in both dialects. `,
    'terrasnek looks for a registry of modules in the discovery document. Purser has none, so a caller must add it.\n\n',
    "HashiCorp's Ansible collection hashicorp.terraform uses pytfe. No package registry has it, so conformance/python makes the calls of its versions 2.0.0 and 2.1.0: outputs, inventories, organizations, projects, workspaces, teams, access, users and tags. ",
    'Version 2.1.0 itself passed once, by hand, with ansible-core 2.19.14: a second run of each module changed nothing. The exception is `organizations`, which reports a change each time on any server, since pytfe does not read attributes with a hyphen in their names there.\n',
  ].join('')
}

function programsOf({ method, path }: Operation): string[] {
  const key = Object.keys(programs).find((name) => shape(split(name)) === shape({ method, path }))
  return Object.entries(programs[key ?? ''] ?? {}).map(([client, test]) => `${client} \`${test}\``)
}

function providerSection(): string {
  const rows = providerDifferences.map(({ dialect, clients, resource, attribute, sent, read, reason }) => {
    const change = `\`${attribute}\` is sent as ${JSON.stringify(sent)} and read as ${read === null ? 'absent' : JSON.stringify(read)}`
    return `| ${resource} | ${clients.join(', ')} | \`${dialect}\` | ${change} | ${reason} |\n`
  })
  return [
    '\n## The tfe provider\n\n',
    `conformance/provider runs the tfe provider ${providerVersion()} itself, built from its source, with OpenTofu ${openTofuVersion()}: `,
    'each of its resources and data sources of organizations, memberships, teams, tokens, access, projects, workspaces, tags and outputs is applied and planned again, and the second plan must be empty. Each attribute is changed, applied and planned again. ',
    'Everything is imported into a fresh state, by id and by name, and the plan must be empty too. Then it is destroyed, and the server must have none of it. The same is done with a configuration of a whole organization, as an owner, with the token of the team `owners` and as a site administrator. ',
    'All of this passes on SQLite and on PostgreSQL, in both dialects. `ephemeral "tfe_outputs"` and `ephemeral "tfe_team_token"` are opened and closed, and their values are in no state afterwards. ',
    'None of these resources has write-only arguments.\n\n',
    'conformance/go-tfe repeats the requests of the provider with the client libraries that it is built on, also with the library of later providers: ',
    'create, read, update each attribute, unset, import, destroy. After each write, the values sent are compared with the values read; a refusal must name the attribute.\n\n',
    'A perpetual difference is one that every `plan` shows again after an `apply`. In `current` there is none. In `documented` there are the following ones, and a program fails if one is missing here or no longer happens:\n\n',
    '| resource | with | dialect | what differs | why |\n|---|---|---|---|---|\n',
    ...rows,
    '\nA configured feature that Purser cannot have is refused with a message that names it: agent pools, version control, `two_factor_mandatory`, encryption with own keys (`enforce_hyok`).\n\n',
    'The provider itself leaves differences with any server: it never sends that `session_timeout_minutes`, `session_remember_minutes`, `owners_team_saml_role_id` or `trigger_patterns` was removed from a configuration ',
    '(give another value, or an empty list), and it accepts a `tfe_org_max_token_ttl_policy` only in the largest unit (`1mo`, not `30d`).\n',
    pairsSection(),
  ].join('')
}

/** The resources that the provider cannot keep beside each other on any server. */
function pairsSection(): string {
  const rivals = JSON.parse(readFileSync(new URL('rivals.json', conformance), 'utf8')) as {
    pair: string[]
    attribute?: string
    reason: string
  }[]
  return [
    '\n### Resources that meet\n\n',
    '`TestProviderPairs` puts every pair of the resources into one configuration, about the same organization, team, members, project and workspace. It is applied, changed on one side and on the other, and destroyed; each plan after an apply must be empty. ',
    'No server can satisfy the provider with the following pairs: the plan is empty while both agree, and not after a change on one side. The run fails if one of them is satisfied, or if another pair is not. ',
    'The provider also fails to destroy `tfe_team_members` or `tfe_team_organization_members` of a team that another resource of the same run has just emptied, before it sends any request. The next run succeeds; a reference from the set to the other resource, or `depends_on`, avoids it.\n\n',
    '| pair | why |\n|---|---|\n',
    ...rivals.map(({ pair, attribute, reason }) => {
      const about = attribute === undefined ? '' : `: \`${attribute}\``
      return `| ${pair.map((kind) => `\`${kind}\``).join(', ')}${about} | ${reason} |\n`
    }),
  ].join('')
}

const providerVersion = () => pinned('provider', 'github.com/hashicorp/terraform-provider-tfe')
const openTofuVersion = (module = 'tofu') => pinned(module, 'github.com/opentofu/opentofu')

/** The version of a dependency that a module of conformance/ builds. */
function pinned(module: string, dependency: string): string {
  const required = readFileSync(new URL(`${module}/go.mod`, conformance), 'utf8')
  return new RegExp(`${dependency} v(\\S+)`).exec(required)?.[1] ?? ''
}

/** The name and version of a Python client. */
function inPython(name: string): string {
  const required = readFileSync(new URL('python/requirements.txt', conformance), 'utf8')
  return `${name} ${new RegExp(`^${name}==(\\S+)`, 'm').exec(required)?.[1] ?? ''}`
}

function split(key: string): Pick<Operation, 'method' | 'path'> {
  const [method = '', path = ''] = key.split(' ')
  return { method, path }
}

/** Finds the test file that sends a request, by its source text: `.get('/teams/…')`, `.request('PUT', …)`. */
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
    // If there are several files, take the one named after the resource in the path.
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
