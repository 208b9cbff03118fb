/** The only reader of the machine's clock (a test holds this), so that tests can set the time. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

/** A time as it is stored and sent: UTC, milliseconds, `Z` (go-tfe refuses `+00:00`). */
export type Timestamp = string

export function timestamp(date: Date): Timestamp {
  const milliseconds = date.getTime()
  // Many requests come in one millisecond.
  if (milliseconds !== lastMilliseconds) {
    lastMilliseconds = milliseconds
    lastTimestamp = date.toISOString()
  }
  return lastTimestamp
}

let lastMilliseconds = Number.NaN
let lastTimestamp = ''
