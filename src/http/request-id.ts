import { randomFillSync } from 'node:crypto'

const BYTES = 10
const IDS_A_FILL = 512

const pool = Buffer.allocUnsafe(BYTES * IDS_A_FILL)
let used = pool.length

/**
 * The X-Request-Id of an answer. Random, since a number would tell every caller how much others ask; of letters and digits
 * alone, since it is typed after a command. A pool makes it cost next to nothing.
 */
export function nextRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const id = pool.toString('hex', used, used + BYTES)
  used += BYTES
  return id
}
