import { randomBytes } from 'node:crypto'

const LENGTH = 20
/** Small, because an id that is stored for long keeps the text of its whole pool in memory. */
const IDS_A_POOL = 32

let pool = ''
let used = 0

/**
 * The X-Request-Id of an answer. Random, because a counter would reveal the load to every caller. Only letters and
 * digits, because people type it into a command. The pool makes it nearly free.
 */
export function nextRequestId(): string {
  if (used === pool.length) {
    pool = randomBytes((LENGTH / 2) * IDS_A_POOL).toString('hex')
    used = 0
  }
  used += LENGTH
  return pool.slice(used - LENGTH, used)
}
