/** The only place that reads the machine's clock (a test checks this), so that tests can set the time. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

/** A time as stored and sent: UTC, milliseconds, `Z` (go-tfe refuses `+00:00`). */
export type Timestamp = string

export function timestamp(date: Date): Timestamp {
  const milliseconds = date.getTime()
  // Cached, because many requests arrive in the same millisecond.
  if (milliseconds !== lastMilliseconds) {
    lastMilliseconds = milliseconds
    lastTimestamp = date.toISOString()
  }
  return lastTimestamp
}

export function timeAfter(time: Date, milliseconds: number): Timestamp {
  return timestamp(new Date(time.getTime() + milliseconds))
}

let lastMilliseconds = Number.NaN
let lastTimestamp = ''

const TIME = /^\d{4}-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})?$/

/** Parses a time; undefined if it is invalid. Without `Z` or an offset it is UTC, as pytfe expects. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = TIME.exec(text)
  const time = match === null ? Number.NaN : Date.parse(match[4] === undefined ? `${text}Z` : text)
  if (match === null || Number.isNaN(time)) return undefined
  // Date.parse accepts February 30 as March 2, so check the day.
  const daysOfMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(match[1]), 0)).getUTCDate()
  const stored = timestamp(new Date(time))
  return Number(match[2]) > daysOfMonth || stored.length !== '2030-01-31T12:00:00.000Z'.length
    ? undefined
    : stored
}

const FAR_AHEAD_MS = 3_600_000

/** Whether a time of the past is so far ahead that the clock was set back since. The clocks of nodes differ less. */
export function isFarAhead(milliseconds: number, now: Date): boolean {
  return milliseconds - now.getTime() > FAR_AHEAD_MS
}
