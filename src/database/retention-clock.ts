import { parseStored } from '../core/stored-json.ts'
import type { Logger } from 'pino'
import { timeAfter, timestamp, type Clock, type Timestamp } from '../core/clock.ts'
import type { Database, Transaction } from './database.ts'
import { setMeta } from './meta-store.ts'
import { forUpdate } from './portable.ts'
import { sharedTime } from './shared-clock.ts'

/** A running server checks the clock more often than this. A longer pause between two checks may be a wrong clock. */
const MAX_PAUSE_MS = 3_600_000
/** The operator has this long to correct the clock before a jump is believed. */
const DOUBT_MS = 24 * 3_600_000
/** The time of the last check is stored again after it has moved by this much. */
const NOTE_EVERY_MS = 600_000
const KEY = 'retention-clock'

/** The stored knowledge about the clock; it survives a restart. */
type Known = {
  /** Time of the last check. */
  seen: Timestamp
  /** How far the clock jumped ahead while no server was watching. */
  doubtedMs: number
  /** Time of the first check after the jump. */
  since: Timestamp
}

/** `time` is the time for age-based deletion. It is earlier than `now` while the clock is in doubt. */
export type RetentionTime = { time: Date; now: Date; doubtedMs: number; until: Timestamp }

/**
 * The time for permanent deletion by age. It never advances faster than running servers saw time pass. A clock that
 * jumps ahead, or is wrong at a start, is believed only after a server has seen it run for a day without another jump.
 * Until then the jump does not count.
 */
export async function retentionTime(database: Database, clock: Clock, log: Logger): Promise<RetentionTime> {
  const look = async (tx: Transaction) => {
    const before = await findKnown(tx)
    const now = await sharedTime(tx, clock)
    return { before, now, after: nextKnown(before, now) }
  }
  let seen = await database.read(look)
  if (isWorthNoting(seen.before, seen.after)) {
    seen = await database.write(async (tx) => {
      const latest = await look(tx)
      await setMeta(tx, KEY, JSON.stringify(latest.after))
      return latest
    })
    report(log, seen.before, seen.after)
  }
  return timeOf(seen.after, seen.now)
}

/** As `retentionTime`, but writes nothing: for the doctor. */
export async function seeRetentionTime(tx: Transaction, clock: Clock): Promise<RetentionTime> {
  const now = await sharedTime(tx, clock)
  return timeOf(nextKnown(await findKnown(tx), now), now)
}

function timeOf({ doubtedMs, since }: Known, now: Date): RetentionTime {
  const until = timeAfter(new Date(since), DOUBT_MS)
  return { time: new Date(now.getTime() - doubtedMs), now, doubtedMs, until }
}

function nextKnown(known: Known | undefined, now: Date): Known {
  const seen = timestamp(now)
  if (known === undefined) return { seen, doubtedMs: 0, since: seen }
  const passedMs = now.getTime() - Date.parse(known.seen)
  if (passedMs > MAX_PAUSE_MS) return { seen, doubtedMs: known.doubtedMs + passedMs, since: seen }
  if (passedMs < 0) {
    const leftMs = known.doubtedMs + passedMs
    const doubtedMs = leftMs > MAX_PAUSE_MS ? leftMs : 0
    return { seen, doubtedMs, since: timeAfter(new Date(known.since), passedMs) }
  }
  const isBelieved = now.getTime() - Date.parse(known.since) >= DOUBT_MS
  return { ...known, seen, doubtedMs: isBelieved ? 0 : known.doubtedMs }
}

function isWorthNoting(before: Known | undefined, after: Known): boolean {
  if (before === undefined || before.doubtedMs !== after.doubtedMs) return true
  return Math.abs(Date.parse(after.seen) - Date.parse(before.seen)) >= NOTE_EVERY_MS
}

function report(log: Logger, before: Known | undefined, after: Known): void {
  const doubtedMs = before?.doubtedMs ?? 0
  if (after.doubtedMs > doubtedMs) {
    log.warn(
      { lastSeen: before?.seen, now: after.seen, until: timeAfter(new Date(after.since), DOUBT_MS) },
      'the clock is ahead of the last time that a server saw: check it; until it has run for a day, data that is too old only because of this difference is not deleted',
    )
  } else if (after.doubtedMs < doubtedMs) {
    const wasSetBack = before !== undefined && after.seen < before.seen
    log.info({ now: after.seen }, wasSetBack ? 'the clock was set back' : 'the clock is believed from now on')
  }
}

/** A write locks it, so that nodes that check at the same time do so one after the other. */
async function findKnown(tx: Transaction): Promise<Known | undefined> {
  const query = tx.db.selectFrom('meta').where('key', '=', KEY).select('value')
  const stored = await query.$call(forUpdate(tx)).executeTakeFirst()
  return stored && parseStored<Known>(stored.value)
}
