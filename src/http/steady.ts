import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from './call.ts'

/** Milliseconds. Not a whole number, because timers count in whole ones: so the last part, a busy wait, stays short. */
const STEP_MS = 9.5

/** Statuses whose reason may have to stay hidden from the caller. */
const refusals: ReadonlySet<number> = new Set([404, 422])

/** Whether the time of this answer must not depend on the work behind it. */
export function isSteady({ status, isSteady: isMade }: Answer): boolean {
  return isMade === true || refusals.has(status)
}

/**
 * Waits until the next whole step after the request had arrived. A plain timer would count from now on, so the time
 * that the work took would still show, to the microsecond.
 */
export async function untilNextStep(receivedAt: number): Promise<void> {
  const steps = Math.floor((performance.now() - receivedAt) / STEP_MS) + 1
  const end = receivedAt + steps * STEP_MS
  for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
    await (left > 1 ? sleep(Math.floor(left)) : nextTurn())
  }
}
