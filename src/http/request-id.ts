import { randomBytes } from 'node:crypto'

const LENGTH = 20
/** As few that an id which is kept for long does not hold on to many others' text. */
const IDS_A_POOL = 32

let pool = ''
let used = 0

/**
 * The X-Request-Id of an answer. Random, since a number would tell every caller how much others ask; of letters and digits
 * alone, since it is typed after a command. A pool makes it cost next to nothing.
 */
export function nextRequestId(): string {
  if (used === pool.length) {
    pool = randomBytes((LENGTH / 2) * IDS_A_POOL).toString('hex')
    used = 0
  }
  used += LENGTH
  return pool.slice(used - LENGTH, used)
}
