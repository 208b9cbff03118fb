import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import type { Transaction } from './database.ts'

/**
 * The time that all nodes of a database share, whatever their own clocks show. On PostgreSQL it is the server's clock;
 * processes that share an SQLite file run on one machine, so its clock will do.
 */
export async function sharedTime(tx: Transaction, clock: Clock): Promise<Date> {
  if (tx.engine === 'sqlite') return clock.now()
  // As a whole number: the text of a time depends on DateStyle, and that of another number on extra_float_digits.
  const { rows } = await sql<{
    ms: number
  }>`select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(tx.db)
  return new Date(existing(rows[0]).ms)
}

/** Whether this process's clock has moved by this much since `time`. A clock that was set back counts too. */
export function isOlder(time: Date, milliseconds: number, clock: Clock): boolean {
  return Math.abs(clock.now().getTime() - time.getTime()) >= milliseconds
}
