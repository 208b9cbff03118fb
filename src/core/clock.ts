/** The only reader of the machine's clock (a test holds this), so that tests can set the time. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

/** A time as it is stored and sent: UTC, milliseconds, `Z` (go-tfe refuses `+00:00`). */
export type Timestamp = string

export function timestamp(date: Date): Timestamp {
  return date.toISOString()
}
