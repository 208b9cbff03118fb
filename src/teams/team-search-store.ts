import { sql } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { prepared } from '../database/prepared.ts'
import { BLOCK_SIZE, FoundNames, NamePart, TeamNameBlock } from './team-name-block.ts'
import type { TeamRow } from './team-store.ts'

const versionQuery = prepared<{ organizationId: string }>()((db, param) =>
  db
    .selectFrom('team_name_blocks')
    .where('organization_id', '=', param('organizationId'))
    .where('number', '=', -1)
    .select('version'),
)

const blocksQuery = prepared<{ organizationId: string }>()((db, param) =>
  db
    .selectFrom('team_name_blocks')
    .where('organization_id', '=', param('organizationId'))
    .where('number', '>=', 0)
    .select(['number', 'version']),
)

const teamsOfBlock = prepared<{ organizationId: string; from: number; to: number }>()((db, param) =>
  db
    .selectFrom('teams')
    .where('number', '>=', param('from'))
    .where('number', '<', param('to'))
    // The plus keeps SQLite from using the index on organization_id, which would read all teams of the organization.
    .where(sql<string>`+organization_id`, '=', param('organizationId'))
    .select(['number', 'name', 'visibility']),
)

/** `numbers` is a JSON list. */
const teamsByNumber = prepared<{ organizationId: string; numbers: string }>()((db, param) =>
  db
    .selectFrom('teams')
    .where(sql<string>`+organization_id`, '=', param('organizationId'))
    .where('number', 'in', sql<number>`(select value from json_each(${param('numbers')}))`)
    .orderBy('name')
    .selectAll(),
)

const MAX_CACHED_BLOCKS = 500
/** Limits what one search builds, about ten milliseconds. The first few searches build all blocks. */
const MAX_BLOCKS_MADE = 8

type Names = { version: number; blocks: Map<number, { version: number; block: TeamNameBlock }> }

export type Found = {
  readonly total: number
  /** Returns `limit` rows by name from `offset` on. Only for the first thousand: then reading in order is cheaper. */
  readonly window: (offset: number, limit: number) => Promise<TeamRow[]>
}

export const MAX_FOUND_REACH = 1_000
/** The page size that most requests use. */
const LIKELY_PAGE = 20
/** Enough blocks to tell a rare trigram from a common one. */
const SAMPLED_BLOCKS = 4

/** The team names of organizations that were searched, for SQLite. */
export class TeamNames {
  /** By organization, least recently searched first. A block is cached with its version, so it never goes stale. */
  readonly #cache = new Map<string, Names>()

  /**
   * The teams whose name contains the part: all, or only those visible to the organization. Undefined while the blocks
   * are not built yet.
   */
  async search(
    tx: Transaction,
    organizationId: string,
    part: string,
    isOpenOnly: boolean,
  ): Promise<Found | undefined> {
    const names = await this.#namesOf(tx, organizationId)
    return names && found(tx, organizationId, names, new NamePart(part), isOpenOnly)
  }

  /** All names of an organization. Undefined while too many blocks still have to be built. */
  async #namesOf(tx: Transaction, organizationId: string): Promise<Names | undefined> {
    const version = (await tx.first(versionQuery, { organizationId }))?.version ?? 0
    const known = this.#cache.get(organizationId)
    if (known?.version === version) return known
    // Only committed data is cached. Searches in the same turn share the blocks built so far.
    const names: Names =
      tx.mode === 'read' && known !== undefined ? known : { version: -1, blocks: new Map() }
    if (tx.mode === 'read') this.#set(organizationId, names)
    names.version = -1
    let made = 0
    for (const { number, version } of await tx.all(blocksQuery, { organizationId })) {
      if (names.blocks.get(number)?.version === version) continue
      if (made === MAX_BLOCKS_MADE) return undefined
      made += 1
      const from = number * BLOCK_SIZE
      const teams = await tx.all(teamsOfBlock, { organizationId, from, to: from + BLOCK_SIZE })
      names.blocks.set(number, { version, block: new TeamNameBlock(teams) })
    }
    names.version = version
    return names
  }

  #set(organizationId: string, names: Names): void {
    this.#cache.delete(organizationId)
    this.#cache.set(organizationId, names)
    let blocks = 0
    for (const { blocks: some } of this.#cache.values()) blocks += some.size
    for (const [oldest, { blocks: some }] of this.#cache) {
      if (blocks <= MAX_CACHED_BLOCKS || oldest === organizationId) break
      this.#cache.delete(oldest)
      blocks -= some.size
    }
  }
}

function found(
  tx: Transaction,
  organizationId: string,
  names: Names,
  name: NamePart,
  isOpenOnly: boolean,
): Found {
  const blocks = [...names.blocks.values()].map(({ block }) => block)
  name.anchorBy(blocks.slice(0, SAMPLED_BLOCKS))
  const find = (limit: number) => {
    const all = new FoundNames(limit)
    for (const block of blocks) block.find(name, isOpenOnly, all)
    return all
  }
  const likely = find(LIKELY_PAGE)
  return {
    total: likely.count,
    window: async (offset, limit) => {
      const { first } = offset + limit <= LIKELY_PAGE ? likely : find(offset + limit)
      const numbers = first.slice(offset, offset + limit).map(({ number }) => number)
      return tx.all(teamsByNumber, { organizationId, numbers: JSON.stringify(numbers) })
    },
  }
}
