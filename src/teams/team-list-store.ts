import { existing } from '../core/existing.ts'
import type { SelectQueryBuilder } from 'kysely'
import type { Standing } from '../access/decide.ts'
import type { Transaction } from '../database/database.ts'
import { countOf } from '../database/pages.ts'
import { holdsText, isTextIn } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import { inSlices } from '../database/slices.ts'
import type { Tables } from '../database/tables.ts'
import { fromNearerEnd, type ReadRange } from '../database/window.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { MAX_FOUND_REACH, type TeamNames } from './team-search-store.ts'
import type { TeamRow } from './team-store.ts'

type TeamFilter = { readonly q?: string; readonly names?: readonly string[] }
type TeamPage = { readonly teams: TeamRow[]; readonly total: number }

type TeamQuery = SelectQueryBuilder<Tables, 'teams', object>

/** Names have only these characters, so a search with any other finds nothing. */
const searchable = /^[A-Za-z0-9_-]+$/

type Listing = {
  readonly tx: Transaction
  readonly organization: OrganizationRow
  readonly standing: Standing
  readonly filter: TeamFilter
  /** Finds a part of a name. */
  readonly teamNames: TeamNames
  /** See Reading. Without it, a search reads all names if they are not in memory. */
  readonly mayReadAgain: boolean
}

/** A page of the teams that the caller may see, by name. The same rule as `team:read`, in SQL. */
export async function listVisibleTeams(listing: Listing, page: Page): Promise<TeamPage> {
  const { standing, filter } = listing
  if (filter.q !== undefined && !searchable.test(filter.q)) return { teams: [], total: 0 }
  const own = standing.seesSecretTeams ? [] : await secretTeamsAmong(listing)
  const open = await openTeams(listing)
  const total = open.total + own.length
  const offset = (page.number - 1) * page.size
  if (offset >= total) return { teams: [], total }
  return { teams: await mergedPage(open, offset, page.size, own), total }
}

/** `ids` is a JSON list. */
const secretTeams = prepared<{ ids: string }>()((db, param, engine) =>
  db
    .selectFrom('teams')
    .where(isTextIn(engine, 'id', param('ids')))
    .where('visibility', '=', 'secret')
    .selectAll(),
)

/** The caller's own secret teams that pass the filter. They are few, so all are read and merged into the page. */
async function secretTeamsAmong({ tx, standing, filter }: Listing): Promise<TeamRow[]> {
  const rows = await inSlices([...standing.teamIds], (slice) =>
    tx.all(secretTeams, { ids: JSON.stringify(slice) }),
  )
  return rows.filter((team) => passes(team, filter)).sort(byName)
}

function passes(team: TeamRow, { q, names }: TeamFilter): boolean {
  return (
    (q === undefined || team.name.toLowerCase().includes(q.toLowerCase())) &&
    (names === undefined || names.includes(team.name))
  )
}

function byName(a: TeamRow, b: TeamRow): number {
  return a.name < b.name ? -1 : 1
}

type OpenTeams = {
  total: number
  /** Returns `limit` rows by name, from `offset` on. */
  window: (offset: number, limit: number) => Promise<TeamRow[]>
}

/** How many teams the caller sees without being a member. */
export function countOpenTeams(organization: OrganizationRow, { seesSecretTeams }: Standing): number {
  return seesSecretTeams ? organization.teams_count : organization.visible_teams_count
}

/** The teams that the caller sees without being a member: owners see all, others see those open to the organization. */
async function openTeams(listing: Listing): Promise<OpenTeams> {
  const { tx, organization, standing, filter } = listing
  const { q, names } = filter
  if (names !== undefined) {
    const teams = await openTeamsOf(listing, names)
    const found = teams.filter((team) => passes(team, { q }))
    return { total: found.length, window: async (offset, limit) => found.slice(offset, offset + limit) }
  }
  if (q !== undefined) return foundTeams(listing, q)
  const total = countOpenTeams(organization, standing)
  const pages = standing.seesSecretTeams ? allTeams : visibleTeams
  const read: ReadRange<TeamRow> = (direction, range) =>
    tx.all(pages[direction], { organizationId: organization.id, ...range })
  return { total, window: (offset, limit) => fromNearerEnd(total, offset, limit, read) }
}

/** The open teams with this part in their name. */
async function foundTeams(listing: Listing, q: string): Promise<OpenTeams> {
  const { tx, organization, standing, teamNames, mayReadAgain } = listing
  const organizationId = organization.id
  const isOpenOnly = !standing.seesSecretTeams
  const query = () =>
    tx.db
      .selectFrom('teams')
      .where('teams.organization_id', '=', organizationId)
      .where(holdsText(tx.engine, 'teams.name', q))
      .$if(isOpenOnly, (teams) => teams.where('teams.visibility', '=', 'organization'))
  const sought = { organizationId, part: q.toLowerCase(), isOpenOnly }
  const found = await teamNames.search(tx, sought, mayReadAgain)
  const total = found?.total ?? (await countOf(query()))
  const window = (offset: number, limit: number) =>
    found !== undefined && offset + limit <= MAX_FOUND_REACH
      ? found.window(offset, limit)
      : fromNearerEnd(total, offset, limit, readOf(query()))
  return { total, window }
}

function pageOf(direction: 'asc' | 'desc', isOpenOnly: boolean) {
  return prepared<{ organizationId: string; limit: number; offset: number }>()((db, param) =>
    db
      .selectFrom('teams')
      .where('organization_id', '=', param('organizationId'))
      .$if(isOpenOnly, (teams) => teams.where('visibility', '=', 'organization'))
      .selectAll()
      .orderBy('name', direction)
      .orderBy('id', direction)
      .limit(param('limit'))
      .offset(param('offset')),
  )
}

const allTeams = { asc: pageOf('asc', false), desc: pageOf('desc', false) }
const visibleTeams = { asc: pageOf('asc', true), desc: pageOf('desc', true) }

const namedTeams = prepared<{ organizationId: string; names: string }>()((db, param, engine) =>
  db
    .selectFrom('teams')
    .where('organization_id', '=', param('organizationId'))
    .where(isTextIn(engine, 'name', param('names')))
    .selectAll(),
)

/** The teams with these names, without paging: a request names few, because its URL is short. */
async function openTeamsOf(
  { tx, organization, standing }: Listing,
  names: readonly string[],
): Promise<TeamRow[]> {
  const sought = { organizationId: organization.id, names: JSON.stringify(names) }
  const teams = await tx.all(namedTeams, sought)
  return teams.filter((team) => standing.seesSecretTeams || team.visibility === 'organization').sort(byName)
}

/**
 * Returns `limit` rows from `offset` on: the open teams with the caller's own merged in by name. At most `own.length`
 * rows before the page are own ones, so it is enough to read the open teams from that much earlier.
 */
async function mergedPage(
  { window }: OpenTeams,
  offset: number,
  limit: number,
  own: readonly TeamRow[],
): Promise<TeamRow[]> {
  const from = Math.max(0, offset - own.length)
  const open = await window(from, offset - from + limit)
  const firstOpen = open[0]
  let ownPlace =
    from === 0 || firstOpen === undefined ? 0 : own.filter((team) => byName(team, firstOpen) < 0).length
  const skip = offset - from - ownPlace
  const merged: TeamRow[] = []
  for (let openPlace = 0; merged.length < skip + limit;) {
    const next = open[openPlace]
    const mine = own[ownPlace]
    if (next === undefined && mine === undefined) break
    if (next === undefined || (mine !== undefined && byName(mine, next) < 0)) {
      merged.push(existing(mine))
      ownPlace += 1
    } else {
      merged.push(next)
      openPlace += 1
    }
  }
  return merged.slice(skip)
}

function readOf(query: TeamQuery): ReadRange<TeamRow> {
  return (direction, { limit, offset }) =>
    query
      .selectAll('teams')
      .orderBy('teams.name', direction)
      .orderBy('teams.id', direction)
      .limit(limit)
      .offset(offset)
      .execute()
}
