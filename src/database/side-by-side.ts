import { existing } from '../core/existing.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import type { ReplayedRead, Replays } from './postgres-replay.ts'
import { runPart } from './postgres-transaction.ts'
import type { SharedWrite } from './shared-write.ts'

/** What the requests of writes read before. */
export type Ahead = ReadonlyMap<SharedWrite, ReplayedRead | undefined>

/** The results or failures of writes, to be called after the commit. Without one the write has to run alone. */
export type Outcomes = Map<SharedWrite, (() => unknown) | undefined>

/** Reads what the requests of the writes read before, those with the same statement together. */
export async function readAheadOf(
  connection: PostgresConnection,
  writes: readonly SharedWrite[],
  replays: Replays,
): Promise<Ahead> {
  const planned = writes.flatMap((write) => {
    const plan = write.named && replays.find(write.named)
    return plan === undefined ? [] : [{ write, plan }]
  })
  const ahead = new Map<SharedWrite, ReplayedRead | undefined>()
  const alike = Map.groupBy(planned, ({ plan }) => plan.statement.name)
  const reading = Array.from(alike.values(), async (some) => {
    const read = await connection.readAhead(some.map(({ plan }) => plan))
    for (const [place, { write }] of some.entries()) ahead.set(write, read[place])
  })
  await Promise.all(reading)
  return ahead
}

/**
 * Runs writes of one transaction beside each other, which lock their organizations. Those of one organization do not see each
 * other, so one that fails beside others has to run alone.
 *
 * @param isWhole whether all are inserts, and no other write follows
 */
export async function runBeside(
  connection: PostgresConnection,
  writes: readonly SharedWrite[],
  ahead: Ahead,
  isWhole = false,
): Promise<Outcomes> {
  const ofEach = Map.groupBy(writes, ({ organizationId }) => organizationId)
  // The chains of several organizations are locked at the end, in the order of their ids.
  const together = isWhole && ofEach.size === 1 ? writes.length : undefined
  const running = writes.map(async (write) => {
    const own = existing(ofEach.get(write.organizationId))
    const beside = own.indexOf(write)
    write.hasRun = true
    const given = { ahead: ahead.get(write), beside, together: beside === 0 ? together : undefined }
    return { write, hasOthers: own.length > 1, ...(await runPart(connection, write.work, given)) }
  })
  // All have to end: after a failure the transaction ends, too.
  await Promise.allSettled(running)
  const parts = await Promise.all(running)
  return new Map(
    parts.map(({ write, outcome, hasFailed, hasOthers }) => [
      write,
      hasFailed && hasOthers ? undefined : outcome,
    ]),
  )
}
