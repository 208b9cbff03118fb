import { sql } from 'kysely'
import { existing } from '../core/existing.ts'
import { parseStored } from '../core/stored-json.ts'
import { ownTurn } from '../core/turns.ts'
import type { Database, Transaction } from '../database/database.ts'
import { filterOnly, jsonListOf, numbersIn } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import { ReadAgain } from '../database/read-again.ts'
import { BLOCK_SIZE, FoundNames, TeamNameBlock, type NamedTeam } from './team-name-block.ts'
import type { TeamRow } from './team-store.ts'
import { NamePart } from './trigram-index.ts'

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

const namedTeam = sql<string>`name || ',' || number || case visibility when 'organization' then ',1' else ',0' end`

/** One text, because a thousand short rows take longer to hand over than to read. */
const teamsOfBlock = prepared<{ organizationId: string; from: number; to: number }>()((db, param, engine) =>
  db
    .selectFrom('teams')
    .where('number', '>=', param('from'))
    .where('number', '<', param('to'))
    // An index on organization_id would read all teams of the organization.
    .where(filterOnly(engine, 'organization_id'), '=', param('organizationId'))
    .select(jsonListOf(engine, namedTeam).as('teams')),
)

/** `numbers` is a JSON list. */
const teamsByNumber = prepared<{ organizationId: string; numbers: string }>()((db, param, engine) =>
  db
    .selectFrom('teams')
    .where(filterOnly(engine, 'organization_id'), '=', param('organizationId'))
    .where('number', 'in', numbersIn(engine, param('numbers')))
    .orderBy('name')
    .selectAll(),
)

const MAX_CACHED_BLOCKS = 500
/** Limits what one transaction reads, about ten milliseconds. */
const MAX_BLOCKS_MADE = 16
/** Limits what one search reads as text, in the worst case a millisecond for each block. */
const MAX_BLOCKS_AS_TEXT = 100

type VersionedBlock = { readonly version: number; readonly block: TeamNameBlock }
type Whole = { readonly version: number; readonly blocks: readonly TeamNameBlock[] }
type Names = {
  /** The newest block of each number that any search has built. */
  readonly latest: Map<number, VersionedBlock>
  /** The blocks of the newest version at which a search knew all of them. */
  whole: Whole
}

type Found = {
  readonly total: number
  /** Returns `limit` rows by name from `offset` on. Only for the first thousand: then reading in order is cheaper. */
  readonly window: (offset: number, limit: number) => Promise<TeamRow[]>
}

export const MAX_FOUND_REACH = 1_000
/** The page size that most requests use. */
const LIKELY_PAGE = 20
/** Enough blocks to tell a rare trigram from a common one. */
const SAMPLED_BLOCKS = 4

/** The team names of organizations that were searched. */
export class TeamNames {
  /** By organization, least recently built first. A block is cached with its version, so it never goes stale. */
  readonly #cache = new Map<string, Names>()

  /** By organization, the builds of its blocks that searches wait for. Their blocks are not displaced. */
  readonly #builds = new Map<string, Promise<void>>()

  #isIndexing = false

  /**
   * The teams whose name contains the part: all, or only those visible to the organization. If too many blocks have to be
   * built, throws ReadAgain, or returns undefined without `mayReadAgain`.
   */
  async search(
    tx: Transaction,
    { organizationId, part, isOpenOnly }: { organizationId: string; part: string; isOpenOnly: boolean },
    mayReadAgain: boolean,
  ): Promise<Found | undefined> {
    const blocks = await this.#blocksOf(tx, organizationId)
    const texts = withoutIndex(blocks ?? [])
    const isReady = blocks !== undefined && texts.length <= MAX_BLOCKS_AS_TEXT
    if (!isReady && mayReadAgain) throw new ReadAgain((database) => this.#build(database, organizationId))
    if (blocks === undefined) return undefined
    void this.#indexLater(texts)
    return found(tx, organizationId, blocks, part, isOpenOnly)
  }

  /** Indexes blocks after a search. Searches meanwhile look into their text. */
  async #indexLater(blocks: readonly TeamNameBlock[]): Promise<void> {
    if (this.#isIndexing) return
    this.#isIndexing = true
    try {
      await indexInTurns(blocks)
    } catch {
      // Not enough memory. Blocks without an index are searched as text, and a later search tries again.
    } finally {
      this.#isIndexing = false
    }
  }

  /** Reads the blocks of an organization, some in each turn of the event loop, and indexes all but a few. */
  #build(database: Database, organizationId: string): Promise<void> {
    const running = this.#builds.get(organizationId)
    if (running !== undefined) return running
    const build = async () => {
      let blocks: readonly TeamNameBlock[] | undefined
      while (blocks === undefined) {
        await ownTurn()
        blocks = await database.read((tx) => this.#blocksOf(tx, organizationId))
      }
      await indexInTurns(withoutIndex(blocks).slice(MAX_BLOCKS_AS_TEXT))
    }
    const building = build().finally(() => this.#builds.delete(organizationId))
    this.#builds.set(organizationId, building)
    return building
  }

  /**
   * All names of an organization, as this transaction sees them. Undefined if it has built some, and more are missing.
   * On PostgreSQL, searches that see newer and older rows run side by side: each takes only blocks of its own versions.
   */
  async #blocksOf(tx: Transaction, organizationId: string): Promise<readonly TeamNameBlock[] | undefined> {
    const version = (await tx.first(versionQuery, { organizationId }))?.version ?? 0
    const known = this.#cache.get(organizationId)
    if (known?.whole.version === version) return known.whole.blocks
    const names = known ?? { latest: new Map(), whole: { version: -1, blocks: [] } }
    // Only committed data is cached.
    const isKept = tx.mode === 'read'
    const wanted = await tx.all(blocksQuery, { organizationId })
    const missing = wanted.filter(({ number, version }) => names.latest.get(number)?.version !== version)
    const blocks = new Map(wanted.map(({ number }) => [number, names.latest.get(number)?.block]))
    // Side by side: PostgreSQL reads one while the names of another become a block.
    await Promise.all(
      missing.slice(0, MAX_BLOCKS_MADE).map(async ({ number, version }) => {
        const from = number * BLOCK_SIZE
        const read = await tx.first(teamsOfBlock, { organizationId, from, to: from + BLOCK_SIZE })
        const block = new TeamNameBlock(parseStored<NamedTeam[]>(existing(read).teams))
        blocks.set(number, block)
        const newest = names.latest.get(number)?.version ?? 0
        if (isKept && newest < version) names.latest.set(number, { version, block })
      }),
    )
    if (isKept) this.#keep(organizationId, names)
    if (missing.length > MAX_BLOCKS_MADE) return undefined
    const all = [...blocks.values()].map(existing)
    if (isKept && names.whole.version < version) names.whole = { version, blocks: all }
    return all
  }

  #keep(organizationId: string, names: Names): void {
    this.#cache.delete(organizationId)
    this.#cache.set(organizationId, names)
    let blocks = 0
    for (const { latest } of this.#cache.values()) blocks += latest.size
    for (const [oldest, { latest }] of this.#cache) {
      if (blocks <= MAX_CACHED_BLOCKS || oldest === organizationId) break
      if (this.#builds.has(oldest)) continue
      this.#cache.delete(oldest)
      blocks -= latest.size
    }
  }
}

function withoutIndex(blocks: readonly TeamNameBlock[]): TeamNameBlock[] {
  return blocks.filter(({ index }) => index === undefined)
}

/** Indexes one block in each turn of the event loop. */
async function indexInTurns(blocks: readonly TeamNameBlock[]): Promise<void> {
  for (const block of blocks) {
    await ownTurn()
    block.addIndex()
  }
}

function found(
  tx: Transaction,
  organizationId: string,
  blocks: readonly TeamNameBlock[],
  part: string,
  isOpenOnly: boolean,
): Found {
  const name = new NamePart(part)
  name.anchorBy(blocks.slice(0, SAMPLED_BLOCKS).flatMap(({ index }) => index ?? []))
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
      const numbers = first.slice(offset, offset + limit).map((team) => Number(team.split(',')[1]))
      return tx.all(teamsByNumber, { organizationId, numbers: JSON.stringify(numbers) })
    },
  }
}
