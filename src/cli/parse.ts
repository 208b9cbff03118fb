import { canonicalAddress } from '../core/ip-address.ts'
import { isKeyOf } from '../core/keys.ts'
import { InvalidArgumentError } from 'commander'
import type { Clock, Timestamp } from '../core/clock.ts'
import { parseTimestamp, timeAfter, timestamp } from '../core/clock.ts'
import { OperatorError } from '../core/operator-error.ts'

/** A request body, so that the command line applies the same rules as the interface. */
export function bodyOf(type: string, attributes: Record<string, unknown>): Uint8Array {
  return Buffer.from(JSON.stringify({ data: { type, attributes } }))
}

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses `90d`, `12h`, `15m`, `30s` to milliseconds. Undefined for anything else. */
function parseDuration(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return isKeyOf(unitsMs, unit) ? Number(amount) * unitsMs[unit] : undefined
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/

/** Parses a time, or a duration before or after now. */
export function parseMoment(text: string, clock: Clock, direction: 'past' | 'future'): Timestamp {
  const duration = parseDuration(text)
  if (duration !== undefined) {
    return timeAfter(clock.now(), direction === 'past' ? -duration : duration)
  }
  const [, day] = TIME.exec(text) ?? []
  // Date.parse takes February 30 for March 2, and a word such as "june" after a date for a month.
  const isDay = day !== undefined && parseTimestamp(`${day}T00:00:00Z`) !== undefined
  const time = isDay ? Date.parse(text) : Number.NaN
  // Times are compared as texts, and a year of five digits begins with a sign.
  if (Number.isNaN(time) || !/^\d{4}-/.test(timestamp(new Date(time)))) {
    throw new OperatorError(
      `${text} is neither a time such as 2030-01-31T12:00:00Z nor a span such as 90d, 12h or 15m`,
    )
  }
  return timestamp(new Date(time))
}

/** An IP address, in its canonical form. */
export function parseAddress(text: string): string {
  const address = canonicalAddress(text)
  if (address === undefined)
    throw new InvalidArgumentError('It must be an address such as 192.0.2.1 or 2001:db8::1.')
  return address
}

export function parseCount(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999999.')
  return Number(text)
}
