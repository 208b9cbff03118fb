import { columnsOfGrant, type GrantFacts } from '../src/access/grants.ts'
import { flagSet, organizationFlags, type OrganizationFlag } from '../src/access/organization-flags.ts'
import { columnsOfFlags } from '../src/access/standing.ts'
import { actionsOn, levelOn, namesOfActions, type Held, type On } from '../src/effective-access/levels.ts'

type Custom = Partial<Pick<GrantFacts, 'state_versions' | 'workspace_locking' | 'workspace_create'>>

const fixed = { state_versions: 'none', workspace_locking: 0, workspace_create: 0 } as const
const held = (columns: number, plans = false): Held => ({ columns, inWorkspaces: columns, plans })

/** A grant. For a custom one, with a single right. */
function grant(on: On, access: GrantFacts['access'], custom: Custom = {}): Held {
  return held(columnsOfGrant({ ...fixed, ...custom, on, access }), access === 'plan')
}

const nothing: [string, Held] = ['–', held(0)]
const customs: [string, Custom][] = [
  ['locking', { workspace_locking: 1 }],
  ['read-outputs', { state_versions: 'read-outputs' }],
  ['read', { state_versions: 'read' }],
  ['write', { state_versions: 'write' }],
]
const ofCustom = (on: On): [string, Held][] =>
  customs.map(([name, details]) => [`custom: ${name}`, grant(on, 'custom', details)])
const onWorkspace: [string, Held][] = [
  nothing,
  ...(['read', 'plan', 'write', 'admin'] as const).map((access): [string, Held] => [
    access,
    grant('workspace', access),
  ]),
  ...ofCustom('workspace'),
]
const onProject: [string, Held][] = [
  nothing,
  ...(['read', 'write', 'maintain', 'admin'] as const).map((access): [string, Held] => [
    access,
    grant('project', access),
  ]),
  ['custom: create', grant('project', 'custom', { workspace_create: 1 })],
  ...ofCustom('project'),
]

const bases: [string, number][] = [
  ['write', actionsOn('workspace', grant('workspace', 'write'))],
  ['read', actionsOn('workspace', grant('workspace', 'read'))],
  ['read-outputs', actionsOn('workspace', grant('workspace', 'custom', { state_versions: 'read-outputs' }))],
]
const seen = actionsOn('workspace', grant('project', 'custom', { workspace_create: 1 }))

/** The level. For access between two levels: the highest level that it includes, plus the further actions. */
function text(sum: Held): string {
  const level = levelOn('workspace', sum)
  if (level === 'none') return '–'
  if (level !== 'custom') return level
  const actions = actionsOn('workspace', sum)
  const [base, inBase] = bases.find(([, of]) => (actions & of) === of) ?? ['see', seen]
  return [base, ...namesOfActions('workspace', actions & ~inBase)].join(' + ')
}

const add = (...parts: Held[]): Held => ({
  columns: parts.reduce((set, part) => set | part.columns, 0),
  inWorkspaces: parts.reduce((set, part) => set | part.inWorkspaces, 0),
  plans: parts.some((part) => part.plans),
})

function table(corner: string, base: Held): string {
  const head = [corner, ...onWorkspace.map(([name]) => name)]
  const rows = onProject.map(([name, project]) => [
    `**${name}**`,
    ...onWorkspace.map(([, workspace]) => text(add(base, project, workspace))),
  ])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const ofFlag = (flag: OrganizationFlag) =>
  held(columnsOfFlags(flagSet(flag), { delegated_team_management: 0 }))

/** The sums of grants, computed by the functions that decide requests. */
export function accessSums(): string {
  const flags = organizationFlags.filter((flag) => levelOn('workspace', ofFlag(flag)) !== 'none')
  const flagRows = flags.map(
    (flag) => `| ${flag} | ${levelOn('workspace', ofFlag(flag))} | ${levelOn('project', ofFlag(flag))} |`,
  )
  return `What each organization-level permission gives by itself. All others give no access to a workspace. The owners have admin everywhere.

| organization-level permission | on every workspace | on every project |
| --- | --- | --- |
${flagRows.join('\n')}

Without any of them: each row is a grant on the project, each column a grant on the workspace, and the cell is the level on the workspace. It makes no
difference whether one team has both grants or two teams have one each.

${table('project ↓ workspace →', held(0))}

The same with read-workspaces or read-projects:

${table('project ↓ workspace →', ofFlag('read-workspaces'))}
`
}

const BEGIN =
  '<!-- The tables are printed by npm run docs; a test fails when they are not what it prints. -->\n\n'
const END = '\n<!-- End of what is printed. -->'

/** docs/access.md with its tables regenerated. */
export function accessPage(page: string): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (after === undefined) throw new Error('docs/access.md has lost the place of its tables')
  return `${before}${BEGIN}${accessSums()}${END}${after}`
}
