import { readFileSync } from 'node:fs'
import type { AccessActor } from './access-world.ts'

/** The facts about a request that the table needs. */
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
  /** Replaces the row of the route. */
  row?: number
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
    const [number, ...cells] = cellsOf(line)
    return [Number(number), new Map(columns.map((column, place) => [column, cells[place] as string]))]
  }),
)

/** Rows that a team token may not use through its team's flags and grants. */
const personalRows = new Set([2, 9, 12, 13, 14, 15, 16, 17, 18])

/** Whether the table of docs/decisions.md permits this. Written independently of the server's code, to check it. */
export function isAllowed(row: number, actor: AccessActor, held: readonly string[], target: Target): boolean {
  const cells = rows.get(row)
  if (cells === undefined) throw new Error(`the table has no row ${row}`)
  const counted =
    actor.isTeamToken && personalRows.has(row) ? held.filter((column) => ['OW', 'TT'].includes(column)) : held
  // "any user" means a person: a token without a person cannot create an organization.
  if (row === 2 && actor.kind !== 'person') return false
  const isTeamOwn = target.team !== undefined && actor.teamIds.includes(target.team.id)
  const all =
    isTeamOwn && held.some((column) => column === 'PM' || column === 'TT') ? [...counted, 'TM'] : counted
  const seesOrdinary = (team: Target['team']) => sees(actor, all, team) && team?.isOwners !== true
  return (
    all.some((column) => says(cells.get(column) ?? '', actor, all, target)) ||
    all.some((column) => isAllowedByLevel(column, row, seesOrdinary(target.team)))
  )
}

/** Callers see the teams that are visible to the organization, and the secret teams that they are members of. */
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

/** Rules about project levels that the table states in its text instead of in cells. */
function isAllowedByLevel(column: string, row: number, seesTeam: boolean): boolean {
  if (column === 'maintain') return row === 23
  if (column !== 'project admin') return false
  return row === 21 || row === 23 || ((row === 127 || row === 128) && seesTeam)
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
