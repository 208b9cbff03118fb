import type { PostgresConnection } from './postgres-connection.ts'
import type { Replays } from './postgres-replay.ts'
import { runPart } from './postgres-transaction.ts'
import type { SharedWrite } from './shared-write.ts'
import type { Turns } from './turns.ts'

const MOST = 15
/** No longer: other writes wait for the lock of the organization, also on other nodes, and give up after `lock_timeout`. */
const MOST_MS = 1_000

/**
 * Waiting writes of an organization that the transaction of another one has taken along, with their outcomes. Without one it
 * has not run yet.
 */
export type Riders = Map<SharedWrite, (() => unknown) | undefined>

type From = { readonly turns: Turns; readonly replays: Replays; readonly organizationId: string | undefined }

/**
 * Runs those that wait, one after the other. Each is noted before it begins.
 *
 * @param start when the work of the transaction began, in milliseconds of `performance.now()`
 */
export async function runRiders(
  connection: PostgresConnection,
  riders: Riders,
  { turns, replays, organizationId }: From,
  start: number,
): Promise<void> {
  while (riders.size < MOST && performance.now() - start < MOST_MS) {
    const rider = turns.takeOver(organizationId)
    if (rider === undefined) return
    riders.set(rider, undefined)
    const plan = rider.named && replays.find(rider.named)
    const [ahead] = plan === undefined ? [] : await connection.readAhead([plan])
    riders.set(rider, (await runPart(connection, rider.work, { ahead })).outcome)
  }
}
