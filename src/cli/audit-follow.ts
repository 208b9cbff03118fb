import { setTimeout as delay } from 'node:timers/promises'
import {
  auditNumbersAfter,
  auditNumbersAmong,
  newestAuditEvents,
  newestAuditNumber,
  type AuditFilter,
  type PrintedRow,
} from '../audit/audit-list-store.ts'
import type { Database, Transaction } from '../database/database.ts'

const LOOK_EVERY_MS = 500
/** Numbers that a look reads, and that are remembered as missing. At the start, so many old ones are looked through. */
const MOST_AT_ONCE = 10_000
/** Transactions are given up after 30 seconds. A number that is missing for longer was drawn by one that was undone. */
const MISSING_MS = 60_000

type Found = { readonly after: number; readonly late: readonly number[]; readonly next: readonly number[] }

/**
 * The numbers of events that were not taken yet. A transaction draws a number before it commits, so a lower number may come
 * after a higher one.
 */
export class UntakenEvents {
  /** The highest number that was taken. */
  #last: number | undefined
  /** Numbers that were left out, and when that was seen. */
  readonly #missing = new Map<number, number>()

  /** The first time, this also looks for missing numbers among the newest ones. Changes nothing. */
  async find(tx: Transaction): Promise<Found> {
    const after = this.#last ?? Math.max(0, (await newestAuditNumber(tx)) - MOST_AT_ONCE)
    const late = await auditNumbersAmong(tx, [...this.#missing.keys()])
    return { after, late, next: await auditNumbersAfter(tx, after, MOST_AT_ONCE) }
  }

  take({ after, late, next }: Found): number[] {
    const now = performance.now()
    for (const number of late) this.#missing.delete(number)
    let last = after
    for (const number of next) {
      const first = Math.max(last + 1, number - MOST_AT_ONCE)
      for (let missing = first; missing < number; missing++) this.#missing.set(missing, now)
      last = number
    }
    this.#last = last
    for (const [number, since] of this.#missing) {
      if (now - since > MISSING_MS || this.#missing.size > MOST_AT_ONCE) this.#missing.delete(number)
    }
    return [...late, ...next]
  }
}

/** Never returns. */
export async function followAuditEvents(
  database: Database,
  filter: AuditFilter,
  untaken: UntakenEvents,
  print: (rows: readonly PrintedRow[]) => Promise<void>,
): Promise<never> {
  for (;;) {
    await delay(LOOK_EVERY_MS)
    const numbers = untaken.take(await database.read((tx) => untaken.find(tx)))
    if (numbers.length === 0) continue
    await print(await database.read((tx) => newestAuditEvents(tx, { ...filter, numbers }, numbers.length)))
  }
}
