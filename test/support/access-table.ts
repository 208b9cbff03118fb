import { readFileSync } from 'node:fs'
import type { Permission } from '../../src/access/rules.ts'
import type { AccessActor } from './access-world.ts'

/** A row of the table. Deleting a tag, or giving it to workspaces, is about all workspaces of the organization. */
export type TablePermission = Permission | 'workspace:manage everywhere'

/** What a request is about, as far as the table asks. */
export type Target = {
  label: string
  params: Record<string, string>
  /** The team itself, or the team that the object belongs to. */
  team?: {
    id: string
    isOpen: boolean
    isOwners: boolean
    /** The team's flags, and its grants on the workspace and its project. */
    flags?: readonly string[]
    grants?: readonly ('workspace' | 'project')[]
  }
  /** The object is the caller's own. */
  isSelf?: boolean
  /** For a user: all their teams. */
  teamsOfUser?: NonNullable<Target['team']>[]
  /** The permission that it asks for instead of its route's. */
  permission?: TablePermission
}

const lines = readFileSync(new URL('../data/access-table.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')
const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const [, ...columns] = cellsOf(lines[0] as string)
const rows = new Map(
  lines.slice(1).map((line) => {
    const [name, ...cells] = cellsOf(line)
    return [
      name as TablePermission,
      new Map(columns.map((column, place) => [column, cells[place] as string])),
    ]
  }),
)

/** The rows of the table, by name. */
export const tablePermissions: readonly TablePermission[] = [...rows.keys()]

/** What a team's token may not do by its flags and grants. */
const personal = new Set<TablePermission>([
  'organization:create',
  'membership:accept',
  'team:manage',
  'team:grant',
  'team:update-members',
  'team:tokens',
  'organization:token',
  'user:tokens',
  'users:administer',
  'organizations:administer',
])

/** Whether test/data/access-table.txt lets somebody do this: written a second time, without a look at the code. */
export function isAllowed(
  permission: TablePermission,
  actor: AccessActor,
  held: readonly string[],
  target: Target,
): boolean {
  const cells = rows.get(permission)
  if (cells === undefined) throw new Error(`the table has no row ${permission}`)
  const counted =
    actor.isTeamToken && personal.has(permission)
      ? held.filter((column) => ['OW', 'TT'].includes(column))
      : held
  // "any user": a token that is nobody's makes no organization.
  if (permission === 'organization:create' && actor.kind !== 'person') return false
  const isTeamOwn = target.team !== undefined && actor.teamIds.includes(target.team.id)
  const all =
    isTeamOwn && held.some((column) => column === 'PM' || column === 'TT') ? [...counted, 'TM'] : counted
  const seesOrdinary = (team: Target['team']) => sees(actor, all, team) && team?.isOwners !== true
  return (
    all.some((column) => says(cells.get(column) ?? '', actor, all, target)) ||
    all.some((column) => isAllowedByLevel(column, permission, seesOrdinary(target.team)))
  )
}

/** Teams that are open to the organization, and secret ones that the caller is in. */
function sees(actor: AccessActor, held: readonly string[], team: Target['team']): boolean {
  return (
    team === undefined ||
    team.isOpen ||
    actor.teamIds.includes(team.id) ||
    ['SA', 'OW', 'OG'].some((column) => held.includes(column))
  )
}

/** To change a team, a delegate must be able to give each of its flags and its grants. */
function couldGive(actor: AccessActor, held: readonly string[], team: Target['team']): boolean {
  const holds = (...columns: string[]) => columns.some((column) => held.includes(column))
  const giving = {
    workspace: holds('MW', 'MP', 'A', 'maintain', 'project admin'),
    project: holds('MP', 'project admin'),
  }
  return (
    team === undefined ||
    ((team.flags ?? []).every((flag) => actor.flags.includes(flag)) &&
      (team.grants ?? []).every((on) => giving[on]))
  )
}

/** What the levels maintain and admin of a project add to the table's cells. */
function isAllowedByLevel(column: string, permission: TablePermission, seesTeam: boolean): boolean {
  if (column === 'maintain') return permission === 'workspace:create'
  if (column !== 'project admin') return false
  return (
    ['project:manage', 'workspace:create'].includes(permission) ||
    (['project-access:read', 'project-access:manage'].includes(permission) && seesTeam)
  )
}

function says(cell: string, actor: AccessActor, held: readonly string[], target: Target): boolean {
  const seesOrdinary = (team: Target['team']) => sees(actor, held, team) && team?.isOwners !== true
  const mayChange = (team: Target['team']) => seesOrdinary(team) && couldGive(actor, held, team)
  switch (cell) {
    case 'Y':
    case '1':
      return true
    case 's':
    case 's1':
      return target.isSelf === true
    case 'v':
      return seesOrdinary(target.team)
    case 'v⁵':
      return mayChange(target.team)
    case 'v³':
      return target.teamsOfUser?.every(mayChange) === true
    case 'visible':
    case 'visible+own':
      return sees(actor, held, target.team)
    case 'own':
      return target.team !== undefined && actor.teamIds.includes(target.team.id)
    case 'Y⁶':
      return target.team?.isOwners !== true
    case 'Y⁷':
      return actor.kind === 'person'
    case '–⁸':
      return held.includes('locking')
    case '':
    case '–':
    case 'grants':
      return false
    default:
      throw new Error(`the table has a cell ${cell}`)
  }
}
