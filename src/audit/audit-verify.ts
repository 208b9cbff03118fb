import type { Transaction } from '../database/database.ts'
import { auditEventsAfter, SITE, type AuditChainRow, type AuditRow } from './audit-chain-store.ts'
import { isLinked, linkOf, macOf, openStart, type AuditKey } from './audit-links.ts'
import {
  countEveryAuditEvent,
  findDamage,
  findStrayEvent,
  isStoredAsRead,
  listAuditChains,
  oldestUserAt,
} from './audit-verify-store.ts'

/** A small batch, because an event that names many outputs is large. */
const AT_ONCE = 100

/** A problem, with its event if there is one. */
type AuditProblem = {
  readonly detail: string
  readonly organizationId: string | null
  readonly position: number | null
  readonly number: number | null
}

export type AuditVerdict = {
  /** Events that were checked and are genuine. */
  readonly events: number
  readonly chains: number
  /** The end of each chain; complete only if there is no problem. */
  readonly ends: readonly AuditEnd[]
  readonly problem?: AuditProblem
}

/** The newest event of a chain. Stored elsewhere, it proves later that the chain was not replaced by an older copy. */
export type AuditEnd = {
  /** Its id; null for the whole site. */
  readonly organization: string | null
  readonly position: number
  /** Empty if the chain has no event. */
  readonly at: string
  readonly mac: string
}

/** The result of an earlier verification, and the time before which PURSER_AUDIT_DAYS has deleted events since. */
export type SeenEnds = { readonly ends: readonly AuditEnd[]; readonly keptSince: string }

/** Checks every event against its chain, up to the first that was altered. */
export async function verifyAuditTrail(
  tx: Transaction,
  key: AuditKey,
  { ends: seen, keptSince }: SeenEnds = { ends: [], keptSince: '' },
): Promise<AuditVerdict> {
  let [events, chains] = [0, 0]
  const ends: AuditEnd[] = []
  const unseen = new Map(seen.map((end) => [end.organization ?? SITE, end]))
  let site: SoundChain | undefined
  const verdict = (problem?: AuditProblem): AuditVerdict => ({ events, chains, ends, problem })
  let after: string | undefined
  for (;;) {
    const rows = await listAuditChains(tx, after, AT_ONCE)
    for (const chain of rows) {
      const id = chain.organization_id
      const found = await verifyChain(tx, key, chain, unseen.get(id), () => (events += 1))
      if ('detail' in found) return verdict(found)
      unseen.delete(id)
      ends.push(found.end)
      chains += 1
      if (id === SITE) site = found
    }
    if (rows.length < AT_ONCE) break
    after = rows.at(-1)?.organization_id
  }
  if ((await countEveryAuditEvent(tx)) !== events) {
    const stray = await findStrayEvent(tx)
    return verdict(
      stray === undefined
        ? nowhere('there are events that belong to no trail')
        : problemOf(stray, 'was inserted or moved: it belongs to no trail'),
    )
  }
  const damage = await findDamage(tx)
  if (damage !== undefined) return verdict(nowhere(`the database file is damaged or was altered: ${damage}`))
  const oldestUser = await oldestUserAt(tx)
  if (site === undefined && (chains > 0 || oldestUser !== undefined)) {
    return verdict(nowhere('the record of the trail of the whole site is missing'))
  }
  if ((site?.chains ?? 0) !== chains) {
    return verdict(nowhere(`there are ${chains} trails, and there should be ${site?.chains}`))
  }
  if (site?.begunAt !== undefined && oldestUser !== undefined && isLongBefore(oldestUser, site.begunAt)) {
    return verdict(
      nowhere(
        `all trails were removed and begun anew: the first event of the whole site is of ${site.begunAt}, and the oldest user is of ${oldestUser}`,
      ),
    )
  }
  // A chain is deleted with its organization after its last event has expired.
  const lost = [...unseen.values()].find(({ at }) => at >= keptSince && at !== '')
  if (lost !== undefined) {
    const id = lost.organization ?? SITE
    return verdict(nowhere(`the trail of ${nameOfChain(id)} is missing, and the earlier output has it`))
  }
  return verdict()
}

type SoundChain = {
  chains: number
  end: AuditEnd
  /** Time of the chain's first event; undefined if it was deleted. */
  begunAt: string | undefined
}

/** A user is created shortly before the event about it. */
const MOMENTS_MS = 60_000
const isLongBefore = (time: string, other: string) => Date.parse(time) < Date.parse(other) - MOMENTS_MS

async function verifyChain(
  tx: Transaction,
  key: AuditKey,
  chain: AuditChainRow,
  seen: AuditEnd | undefined,
  count: () => void,
): Promise<AuditProblem | SoundChain> {
  const organizationId = chain.organization_id
  const of = (position: number | null, detail: string): AuditProblem => ({
    detail: `${detail} of ${nameOfChain(organizationId)}`,
    organizationId: organizationId === SITE ? null : organizationId,
    position,
    number: null,
  })
  const start = openStart(key, organizationId, chain.start)
  if (start === undefined || start.position !== chain.start_position || typeof organizationId !== 'string') {
    return of(null, 'the record of the first event was changed, in the trail')
  }
  let { position, link } = start
  let [at, oldest]: [string, string | null] = ['', null]
  let begunAt: string | undefined
  const isOther = () => seen?.position === position && seen.mac !== hexOf(link)
  if (isOther())
    return of(position, 'the first event is another one than in the earlier output, in the trail')
  for (;;) {
    const rows = await auditEventsAfter(tx, organizationId, position, AT_ONCE)
    for (const row of rows) {
      if (row.position !== position + 1) {
        const isBehind = typeof row.position === 'number' && row.position > position
        if (!isBehind) return problemOf(row, 'was inserted or moved: another event has its position')
        return of(position + 1, missing(position + 1, row.position - 1))
      }
      const next = linkOf(key, link, row)
      if (!isLinked(row, next) || !(await isStoredAsRead(tx, row))) {
        return problemOf(row, 'differs from what was written: it was changed, replaced or moved')
      }
      if (position === 0) begunAt = row.at
      position += 1
      link = next
      at = row.at
      oldest ??= row.at
      if (isOther())
        return problemOf(
          row,
          'is not the event of the earlier output: an older copy of the trail was put back, and events were added',
        )
      count()
    }
    if (rows.length < AT_ONCE) break
  }
  if (position < chain.position) return of(position + 1, missing(position + 1, chain.position))
  const isEnd =
    position === chain.position &&
    chain.link instanceof Uint8Array &&
    Buffer.compare(link, chain.link) === 0 &&
    at === chain.at
  if (!isEnd) {
    return of(
      position,
      `the record of the last event was changed, or events after ${position} are missing, in the trail`,
    )
  }
  if (seen !== undefined && seen.position > position) {
    return of(position + 1, `an older copy was put back: ${missing(position + 1, seen.position)}`)
  }
  if (oldest !== chain.oldest_at) return of(null, 'the record of the oldest event was changed, in the trail')
  return {
    chains: start.chains,
    end: { organization: organizationId === SITE ? null : organizationId, position, at, mac: hexOf(link) },
    begunAt,
  }
}

const hexOf = (link: Uint8Array) => Buffer.from(macOf(link)).toString('hex')

const missing = (first: number, last: number) =>
  first === last
    ? `event ${first} is missing in the trail`
    : `events ${first} to ${last} are missing in the trail`

function problemOf(row: AuditRow, what: string): AuditProblem {
  const organizationId = row.organization_id
  return {
    detail: `event ${row.position} of ${nameOfChain(organizationId ?? SITE)} (number ${row.number}, ${row.at}, ${row.action}) ${what}`,
    organizationId,
    position: row.position,
    number: row.number,
  }
}

function nowhere(detail: string): AuditProblem {
  return { detail, organizationId: null, position: null, number: null }
}

function nameOfChain(organizationId: string): string {
  return organizationId === SITE ? 'the whole site' : organizationId
}
