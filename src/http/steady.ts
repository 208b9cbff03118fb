import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './call.ts'

/**
 * Milliseconds. Not a whole number, since timers keep whole ones alone: so the last part, which is waited for awake, stays
 * short.
 */
const STEP_MS = 9.5

/** Statuses whose reason may be something that the caller must not learn of. */
const refusals: ReadonlySet<number> = new Set([404, 422])

/** Whether the time of an answer must not show how long it took to find it. */
export function isSteady({ status, isSteady: isMade }: Answer): boolean {
  return isMade === true || refusals.has(status)
}

/**
 * Waits for the next whole step since all of the request was there. A timer alone would not do: it counts from when it is
 * set, so the time that the work took would still be in it, to the microsecond.
 */
export async function untilNextStep(receivedAt: number): Promise<void> {
  const steps = Math.floor((performance.now() - receivedAt) / STEP_MS) + 1
  const end = receivedAt + steps * STEP_MS
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    await (left > 1 ? sleep(Math.floor(left)) : nextTurn())
  }
}
