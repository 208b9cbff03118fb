import type { Logger } from 'pino'
import { timeAfter, type Clock } from '../core/clock.ts'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database, Transaction } from '../database/database.ts'
import { retentionTime } from '../database/retention-clock.ts'
import {
  auditEventsAfter,
  deleteAuditChain,
  lockAuditChain,
  SITE,
  updateAuditChain,
} from './audit-chain-store.ts'
import { countAuditChains } from './audit-chains.ts'
import { isLinked, linkOf, openStart, sealStart, type AuditKey } from './audit-links.ts'
import { deleteAuditEvents, findAgedChain, findUnusedChains } from './audit-retention-store.ts'

const LOOK_EVERY_MS = 10 * 60_000
/** A small batch, because an event that names many outputs is large. */
const EVENTS_A_TRANSACTION = 200
const CHAINS_A_TRANSACTION = 200
const DAY_MS = 86_400_000

/**
 * Deletes audit events older than PURSER_AUDIT_DAYS, in slices between requests. Each chain then starts after them.
 * Events that do not verify are kept, because they are evidence of tampering.
 */
export function auditRetention(
  database: Database,
  key: AuditKey,
  clock: Clock,
  log: Logger,
  days: number,
): BackgroundLoop {
  const failure = 'old audit events could not be deleted yet'
  const loop = new BackgroundLoop({ everyMs: LOOK_EVERY_MS, log, failure }, async () => {
    const kept: string[] = []
    const { time } = await retentionTime(database, clock, log)
    const before = timeAfter(time, -days * DAY_MS)
    while (!loop.isStopping) {
      const chain = await database.read((tx) => findAgedChain(tx, before, kept))
      if (chain === undefined) break
      if (!(await database.write((tx) => shortenChain(tx, key, chain, before)))) {
        log.warn({ organizationId: chain }, 'old audit events that do not verify are kept')
        kept.push(chain)
      }
    }
    while (!loop.isStopping && (await database.write((tx) => deleteUnusedChains(tx, key))) > 0);
  })
  return loop
}

/** Deletes some of the oldest events of a chain. Returns false if they do not verify. */
async function shortenChain(
  tx: Transaction,
  key: AuditKey,
  organizationId: string,
  before: string,
): Promise<boolean> {
  const chain = await lockAuditChain(tx, organizationId)
  // Another node has already done it.
  if (chain === undefined || chain.oldest_at === null || chain.oldest_at >= before) return true
  const start = openStart(key, organizationId, chain.start)
  if (start === undefined) return false
  let { position, link } = start
  for (const row of await auditEventsAfter(tx, organizationId, position, EVENTS_A_TRANSACTION)) {
    if (row.at >= before) break
    link = linkOf(key, link, row)
    position += 1
    if (row.position !== position || !isLinked(row, link)) return false
  }
  const [oldest] = await auditEventsAfter(tx, organizationId, position, 1)
  const isEmpty = position === chain.position
  if (position === start.position || isEmpty !== (oldest === undefined)) return false
  await deleteAuditEvents(tx, organizationId, start.position, position)
  await updateAuditChain(tx, organizationId, {
    start_position: position,
    start: sealStart(key, organizationId, { ...start, position, link }),
    oldest_at: oldest?.at ?? null,
    ...(isEmpty ? { at: '' } : {}),
  })
  return true
}

/** Deletes the chains of deleted organizations after their last event was deleted. Returns their number. */
async function deleteUnusedChains(tx: Transaction, key: AuditKey): Promise<number> {
  const unused = await findUnusedChains(tx, CHAINS_A_TRANSACTION)
  if (unused.length === 0) return 0
  await lockAuditChain(tx, SITE)
  let deleted = 0
  for (const organizationId of unused) {
    if ((await lockAuditChain(tx, organizationId))?.oldest_at !== null) continue
    await deleteAuditChain(tx, organizationId)
    deleted += 1
  }
  await countAuditChains(tx, key, -deleted)
  return deleted
}
