import { timestamp, type Clock } from '../core/clock.ts'
import type { Transaction } from '../database/database.ts'
import { placeEvents, unchainedEvents, type Placed } from './audit-adoption-store.ts'
import { lockAuditChain, SITE, updateAuditChain, type AuditRow } from './audit-chain-store.ts'
import { countAuditChains, insertEmptyChain } from './audit-chains.ts'
import { insertAuditEvents } from './audit-store.ts'
import { firstLink, linkOf, macOf, sealStart, type AuditKey } from './audit-links.ts'

/** A small batch, because an event that names many outputs is large. */
const AT_ONCE = 100

type Chain = { position: number; link: Uint8Array; at: string; oldestAt: string }

/**
 * Chains the events of a database from before chains existed. Earlier changes to them cannot be detected. Returns their
 * number. If there is a chain already it does nothing, so events inserted by an attacker are not adopted.
 */
export async function chainOlderEvents(tx: Transaction, key: AuditKey, clock: Clock): Promise<number> {
  if ((await lockAuditChain(tx, SITE)) !== undefined) return 0
  if ((await unchainedEvents(tx, 0, 1)).length === 0) return 0
  if (!(await insertEmptyChain(tx, key, SITE))) return 0
  const chains = new Map<string, Chain>()
  let [count, after] = [0, 0]
  for (;;) {
    const rows = await unchainedEvents(tx, after, AT_ONCE)
    await placeEvents(
      tx,
      rows.map((row) => place(key, chains, row)),
    )
    count += rows.length
    after = rows.at(-1)?.number ?? after
    if (rows.length < AT_ONCE) break
  }
  for (const [organizationId, chain] of chains) await keepChain(tx, key, organizationId, chain)
  await countAuditChains(tx, key, [...chains.keys()].filter((id) => id !== SITE).length)
  const context = { at: timestamp(clock.now()), requestId: null, actor: null, key }
  const details = { events: count }
  await insertAuditEvents(tx, context, [
    { action: 'audit.chain', resourceType: 'databases', resourceId: 'audit-events', details },
  ])
  return count
}

function place(key: AuditKey, chains: Map<string, Chain>, row: AuditRow): Placed {
  const organizationId = row.organization_id ?? SITE
  const chain = chains.get(organizationId)
  const position = (chain?.position ?? 0) + 1
  const link = linkOf(key, chain?.link ?? firstLink(key, organizationId), { ...row, position })
  chains.set(organizationId, { position, link, at: row.at, oldestAt: chain?.oldestAt ?? row.at })
  return { number: row.number, position, mac: macOf(link) }
}

async function keepChain(
  tx: Transaction,
  key: AuditKey,
  organizationId: string,
  { position, link, at, oldestAt }: Chain,
): Promise<void> {
  await insertEmptyChain(tx, key, organizationId)
  await lockAuditChain(tx, organizationId)
  const start = {
    position: 0,
    link: firstLink(key, organizationId),
    adopted: position,
    chains: organizationId === SITE ? 1 : 0,
  }
  await updateAuditChain(tx, organizationId, {
    position,
    link,
    at,
    start: sealStart(key, organizationId, start),
    oldest_at: oldestAt,
  })
}
