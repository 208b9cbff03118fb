import { existing } from '../core/existing.ts'
import type { Transaction } from '../database/database.ts'
import {
  insertAuditChain,
  insertAuditEventRows,
  lockAuditChain,
  lockAuditHead,
  moveAuditHead,
  SITE,
  updateAuditChain,
  type AuditHead,
  type AuditRow,
} from './audit-chain-store.ts'
import {
  firstLink,
  linkOf,
  macOf,
  openStart,
  sealStart,
  type AuditKey,
  type UnlinkedRow,
} from './audit-links.ts'

/** Node clocks may differ by less than this. If the newest event is further ahead, its clock was wrong. */
const MAX_AHEAD_MS = 60_000

export type UnchainedEvent = Omit<UnlinkedRow, 'number' | 'position'>

/**
 * Inserts each event at the end of its chain. The chains stay locked until the transaction ends.
 *
 * @param locked the ends that this transaction has locked before, and not moved since
 */
export async function chainAuditEvents(
  tx: Transaction,
  key: AuditKey,
  events: readonly UnchainedEvent[],
  locked: readonly AuditHead[] = [],
): Promise<void> {
  // Always lock chains in the same order: otherwise two transactions could deadlock.
  const chains = [...Map.groupBy(events, (event) => event.organization_id ?? SITE)].toSorted(
    ([one], [other]) => (one < other ? -1 : 1),
  )
  let before = 0
  const locking = chains.map(async ([id, { length }]) => {
    const known = locked.find((head) => head.organizationId === id && head.numbers.length >= length)
    const head = known ?? lockAuditHead(tx, id, { count: length, before })
    before += length
    return head
  })
  const heads = await Promise.all(locking)
  const extended: Extended[] = []
  before = 0
  for (const [place, [id, added]] of chains.entries()) {
    const head = heads[place] ?? (await beginAuditChain(tx, key, id, { count: added.length, before }))
    before += added.length
    extended.push(extendedBy(key, head, added))
  }
  await insertAuditEventRows(
    tx,
    extended.flatMap(({ rows }) => rows),
  )
  for (const { head } of extended) await moveAuditHead(tx, head)
  for (const { rows, head, isFirst } of extended) {
    if (isFirst) await updateAuditChain(tx, head.organizationId, { oldest_at: rows[0]?.at ?? null })
  }
}

type Extended = {
  readonly rows: AuditRow[]
  readonly head: Pick<AuditHead, 'organizationId' | 'position' | 'at' | 'link'>
  readonly isFirst: boolean
}

/** The rows of the events, and the end of the chain behind them. */
function extendedBy(key: AuditKey, head: AuditHead, events: readonly UnchainedEvent[]): Extended {
  const { organizationId, numbers } = head
  let { position, at, link } = head
  const rows = events.map((event, index) => {
    position += 1
    at = notBefore(at, event.at)
    const row = { ...event, number: existing(numbers[index]), position, at }
    link = linkOf(key, link, row)
    return { ...row, mac: macOf(link) }
  })
  return { rows, head: { organizationId, position, at, link }, isFirst: head.oldest_at === null }
}

/** Keeps the times of a chain in order, so a client that polls with `since` misses nothing. */
function notBefore(newest: string, now: string): string {
  return newest > now && Date.parse(newest) - Date.parse(now) < MAX_AHEAD_MS ? newest : now
}

/** Creates the chain of an organization. The site's chain stores the number of chains. */
async function beginAuditChain(
  tx: Transaction,
  key: AuditKey,
  organizationId: string,
  added: { readonly count: number; readonly before: number },
): Promise<AuditHead> {
  await insertEmptyChain(tx, key, SITE)
  if (organizationId !== SITE) {
    // Lock the site's chain first, as everywhere, so that two transactions cannot deadlock.
    await lockAuditChain(tx, SITE)
    if (await insertEmptyChain(tx, key, organizationId)) await countAuditChains(tx, key, 1)
  }
  return existing(await lockAuditHead(tx, organizationId, added))
}

function insertEmptyChain(tx: Transaction, key: AuditKey, organizationId: string): Promise<boolean> {
  const link = firstLink(key, organizationId)
  const chains = organizationId === SITE ? 1 : 0
  return insertAuditChain(tx, {
    organization_id: organizationId,
    position: 0,
    at: '',
    link,
    start_position: 0,
    start: sealStart(key, organizationId, { position: 0, link, chains }),
    oldest_at: null,
  })
}

/** Updates the number of chains in the site's chain. */
export async function countAuditChains(tx: Transaction, key: AuditKey, change: number): Promise<void> {
  const site = await lockAuditChain(tx, SITE)
  const start = site === undefined ? undefined : openStart(key, SITE, site.start)
  // A start that was tampered with stays, so that `purser audit verify` finds it.
  if (start === undefined) return
  await updateAuditChain(tx, SITE, {
    start: sealStart(key, SITE, { ...start, chains: start.chains + change }),
  })
}
