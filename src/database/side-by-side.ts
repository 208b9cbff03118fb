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
 * @param isWhole whether all are inserts, and no other write follows them
 */
export async function runBeside(
  connection: PostgresConnection,
  writes: readonly SharedWrite[],
  ahead: Ahead,
  isWhole = false,
): Promise<Outcomes> {
  const ofEach = Map.groupBy(writes, ({ organizationId }) => organizationId)
  const counts = new Map<string, number>()
  const running = writes.map(async (write) => {
    const { organizationId, work } = write
    write.hasRun = true
    const beside = counts.get(organizationId) ?? 0
    counts.set(organizationId, beside + 1)
    const together = isWhole && beside === 0 ? ofEach.get(organizationId)?.length : undefined
    return { write, ...(await runPart(connection, work, { ahead: ahead.get(write), beside, together })) }
  })
  // All have to end: after a failure the transaction ends, too.
  await Promise.allSettled(running)
  const parts = await Promise.all(running)
  return new Map(
    parts.map(({ write, outcome, hasFailed }) => {
      const isFinal = !hasFailed || ofEach.get(write.organizationId)?.length === 1
      return [write, isFinal ? outcome : undefined]
    }),
  )
}
