import type { PostgresConnection } from './postgres-connection.ts'
import type { ReplayedRead, Replays } from './postgres-replay.ts'
import type { SharedWrite } from './shared-write.ts'
import { readAheadOf, runBeside, type Outcomes } from './side-by-side.ts'
import type { Turns } from './turns.ts'

const MOST = 16
/** No longer: other writes wait for the lock of the organization, also on other nodes, and give up after `lock_timeout`. */
const MOST_MS = 1_000

type From = { readonly turns: Turns; readonly replays: Replays }

/**
 * Runs a write whose transaction has the lock of its organization, and then those of its organization that wait, one after
 * the other. Inserts that follow each other run side by side. Each is noted in `outcomes` before it begins.
 */
export async function runWithRiders(
  connection: PostgresConnection,
  own: SharedWrite,
  { turns, replays }: From,
  outcomes: Outcomes,
  ownAhead: ReplayedRead | undefined,
): Promise<void> {
  const { organizationId } = own
  const start = performance.now()
  let next: SharedWrite | undefined = own
  while (next !== undefined) {
    const together = [next, ...takeInserts(next, turns, MOST - 1 - outcomes.size)]
    for (const write of together) outcomes.set(write, undefined)
    const ahead = await readAheadOf(
      connection,
      together.filter((write) => write !== own),
      replays,
    )
    const found = await runBeside(connection, together, new Map([...ahead, [own, ownAhead]]))
    for (const [write, outcome] of found) outcomes.set(write, outcome)
    const mayGoOn = outcomes.size < MOST && performance.now() - start < MOST_MS
    next = mayGoOn ? turns.takeOver(organizationId) : undefined
  }
}

/** The inserts that wait behind an insert, to run beside it. */
function takeInserts(
  { isOneInsert, organizationId }: SharedWrite,
  turns: Turns,
  most: number,
): SharedWrite[] {
  const taken: SharedWrite[] = []
  if (!isOneInsert) return taken
  while (taken.length < most) {
    const other = turns.takeOver(organizationId, (write) => write.isOneInsert)
    if (other === undefined) break
    taken.push(other)
  }
  return taken
}
