import type { Transaction } from '../database/database.ts'
import { nextNumbers } from '../database/portable.ts'
import {
  insertAuditChain,
  insertAuditEventRows,
  lockAuditChain,
  lockAuditHead,
  moveAuditHead,
  SITE,
  updateAuditChain,
  type AuditHead,
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

/** A clock that was further ahead than this was wrong; less is how much the clocks of nodes differ. */
const MAX_AHEAD_MS = 60_000

export type UnchainedEvent = Omit<UnlinkedRow, 'number' | 'position'>

/** Writes events, each at the end of its chain. Chains stay locked until the transaction ends. */
export async function chainAuditEvents(
  tx: Transaction,
  key: AuditKey,
  events: readonly UnchainedEvent[],
): Promise<void> {
  const chains = Map.groupBy(events, (event) => event.organization_id ?? SITE)
  // In one order everywhere, so that nobody waits for a chain while holding one that another waits for.
  for (const organizationId of [...chains.keys()].toSorted()) {
    await extendChain(tx, key, organizationId, chains.get(organizationId) as UnchainedEvent[])
  }
}

async function extendChain(
  tx: Transaction,
  key: AuditKey,
  organizationId: string,
  events: readonly UnchainedEvent[],
): Promise<void> {
  const head = (await lockAuditHead(tx, organizationId)) ?? (await beginAuditChain(tx, key, organizationId))
  const numbers = await nextNumbers(tx, 'audit_events', head.number, events.length)
  let { position, at, link } = head
  const rows = events.map((event, index) => {
    position += 1
    at = notBefore(at, event.at)
    const row = { ...event, number: numbers[index] as number, position, at }
    link = linkOf(key, link, row)
    return { ...row, mac: macOf(link) }
  })
  await insertAuditEventRows(tx, rows)
  await moveAuditHead(tx, { organizationId, position, at, link })
  if (head.oldest_at === null) await updateAuditChain(tx, organizationId, { oldest_at: rows[0]?.at ?? null })
}

/** Times of one chain never go back: whoever asks for what came since a time misses nothing. */
function notBefore(newest: string, now: string): string {
  return newest > now && Date.parse(newest) - Date.parse(now) < MAX_AHEAD_MS ? newest : now
}

/** Makes the chain of an organization that has none yet. The whole site's says how many there are. */
async function beginAuditChain(tx: Transaction, key: AuditKey, organizationId: string): Promise<AuditHead> {
  await insertEmptyChain(tx, key, SITE)
  if (organizationId !== SITE) {
    // Locked first, as everywhere: then nobody waits for this chain while holding that one.
    await lockAuditChain(tx, SITE)
    if (await insertEmptyChain(tx, key, organizationId)) await countAuditChains(tx, key, 1)
  }
  return (await lockAuditHead(tx, organizationId)) as AuditHead
}

export function insertEmptyChain(tx: Transaction, key: AuditKey, organizationId: string): Promise<boolean> {
  const link = firstLink(key, organizationId)
  const chains = organizationId === SITE ? 1 : 0
  return insertAuditChain(tx, {
    organization_id: organizationId,
    position: 0,
    at: '',
    link,
    start_position: 0,
    start: sealStart(key, organizationId, { position: 0, link, adopted: 0, chains }),
    oldest_at: null,
  })
}

/** Notes that there are more or fewer chains. */
export async function countAuditChains(tx: Transaction, key: AuditKey, change: number): Promise<void> {
  const site = await lockAuditChain(tx, SITE)
  const start = site === undefined ? undefined : openStart(key, SITE, site.start)
  // What was tampered with stays as it is, for `purser audit verify` to find.
  if (start === undefined) return
  await updateAuditChain(tx, SITE, {
    start: sealStart(key, SITE, { ...start, chains: start.chains + change }),
  })
}
