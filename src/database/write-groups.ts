import { setImmediate as nextTurn } from 'node:timers/promises'
import { Overload } from '../core/errors.ts'
import { LOCK_ORGANIZATION, type PostgresConnection } from './postgres-connection.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { isBusy } from './postgres-errors.ts'
import type { Replays } from './postgres-replay.ts'
import { settleFailed, type SharedWrite } from './shared-write.ts'
import { readAheadOf, runBeside, type Ahead } from './side-by-side.ts'
import { MAX_WAIT_MS, type Turns } from './turns.ts'

/** Two, because one can prepare while the other commits. */
const MOST_GROUPS = 2
const MOST_TOGETHER = 16
/** How long a group waits for callers that were just answered. A transaction takes some milliseconds. */
const GATHERING_MS = 2
/** If a group waited in vain for callers, or some in a row for a lock, so many do not wait: it would be in vain each time. */
const GROUPS_AFTER_VAIN = 8
/** Other nodes may now and then have a lock for longer. */
const MOST_VAIN_WAITS = 3
const MAX_WAITING = 1_000
const MAX_WAITING_OF_ONE = 250
/**
 * For the lock of the only organization. Another node that creates in it has the lock for some milliseconds. Groups of other
 * organizations may wait behind this one, so it must not take long.
 */
const LOCK_TIMEOUT_OF_ONE = '20ms'
/** Others lock the ends of audit trails, too. If one takes longer, the writes run alone, and only its own wait for it. */
const LOCK_TIMEOUT = '200ms'
const LOCK_FREE = {
  name: 'lock free organizations',
  text: 'select id from organizations where id = any($1::text[]) order by id for update skip locked',
}

type Begun = {
  /** The ids of the organizations that no other transaction had locked. */
  readonly locked: ReadonlySet<string>
  readonly ahead: Ahead
}

type Reactions = {
  /** Throws if a transaction would wait in vain. */
  readonly refuseUseless: () => void
  /** Is told why the writes of a group run alone. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Runs writes that are one insert each side by side in one transaction, so that they wait for the database and for the disk
 * together. Those of one organization are in one group at a time.
 */
export class WriteGroups {
  readonly #turns: Turns
  readonly #replays: Replays
  readonly #pool: PostgresPool
  readonly #refuseUseless: () => void
  readonly #onFailure: (error: unknown) => void
  /** In order of arrival. */
  #waiting: SharedWrite[] = []
  readonly #busy = new Set<string>()
  #groups = 0
  /** How many callers were just answered and have not written again. They often do so at once. */
  #awaited = 0
  #gathering: NodeJS.Timeout | undefined
  /** Whether one of them has written again. */
  #hasReturned = false
  #groupsNotToWait = 0
  /** How many groups in a row have waited in vain for a lock. */
  #vainWaits = 0
  #groupsNotToWaitForLock = 0

  constructor(turns: Turns, replays: Replays, pool: PostgresPool, reactions: Reactions) {
    this.#refuseUseless = reactions.refuseUseless
    this.#onFailure = reactions.onFailure
    this.#turns = turns
    this.#replays = replays
    this.#pool = pool
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Returns false if the write has to run alone. Else it is settled later. */
  add(write: SharedWrite): boolean {
    const { organizationId } = write
    // A group would not get the organization's lock, but a write that has it takes others along.
    if (this.#turns.isWriting(organizationId)) return false
    const ofOne = this.#waiting.filter((each) => each.organizationId === organizationId)
    if (this.#waiting.length >= MAX_WAITING || ofOne.length >= MAX_WAITING_OF_ONE) return false
    this.#waiting.push(write)
    if (this.#awaited > 0) {
      this.#awaited -= 1
      this.#hasReturned = true
    }
    const timer = setTimeout(() => this.#giveUp(write), MAX_WAIT_MS)
    void write.settled.then(() => clearTimeout(timer))
    this.#start()
    return true
  }

  #giveUp(write: SharedWrite): void {
    if (write.isTaken) return
    this.#waiting = this.#waiting.filter((other) => other !== write)
    write.settle(() => {
      throw new Overload('database', 'the database is busy with other requests')
    })
  }

  get #hasFree(): boolean {
    return this.#waiting.some(({ organizationId }) => !this.#busy.has(organizationId))
  }

  #start(): void {
    const isGathering = this.#awaited > 0 && this.#waiting.length < MOST_TOGETHER
    if (this.#groups < MOST_GROUPS && this.#hasFree && !isGathering) void this.#runNext()
  }

  /** Lets the next group wait a moment for callers that were just answered. */
  #gather(callers: number): void {
    if (callers === 0) return
    if (this.#groupsNotToWait > 0) {
      this.#groupsNotToWait -= 1
      return
    }
    this.#awaited += callers
    this.#hasReturned = false
    clearTimeout(this.#gathering)
    this.#gathering = setTimeout(() => void this.#endGathering(), GATHERING_MS)
  }

  async #endGathering(): Promise<void> {
    // After a stall of the event loop timers run before arrived requests are read.
    await nextTurn()
    if (!this.#hasReturned && this.#hasFree) this.#groupsNotToWait = GROUPS_AFTER_VAIN
    this.#awaited = 0
    this.#start()
  }

  async #runNext(): Promise<void> {
    this.#groups += 1
    // Writes that arrive in this turn come along.
    await nextTurn()
    if (this.#hasFree) await this.#runGroup()
    this.#groups -= 1
    this.#start()
  }

  async #runGroup(): Promise<void> {
    const end = await this.#turns.take({ mode: 'write', isOfMany: true }).catch(() => undefined)
    // Those that have waited as long were given up, and later ones go on to wait.
    if (end === undefined) return
    const group = this.#take()
    try {
      this.#refuseUseless()
      if (group.size > 0) await this.#run(group)
    } catch (error) {
      this.#onFailure(error)
      settleFailed(group, error)
    }
    this.#letGo(group)
    end()
  }

  /** Those that are not settled yet run alone. */
  #letGo(writes: Iterable<SharedWrite>): void {
    for (const write of writes) {
      write.settle(undefined)
      this.#busy.delete(write.organizationId)
    }
  }

  async #run(group: Set<SharedWrite>): Promise<void> {
    const ids = [...new Set(Array.from(group, ({ organizationId }) => organizationId))]
    const isOfOne = ids.length === 1
    const waits = isOfOne && this.#groupsNotToWaitForLock === 0
    if (isOfOne && !waits) this.#groupsNotToWaitForLock -= 1
    try {
      const outcomes = await this.#pool.run(
        { mode: 'write', lockTimeout: waits ? LOCK_TIMEOUT_OF_ONE : LOCK_TIMEOUT },
        (connection) => this.#begin(connection, [...group], ids, waits),
        (connection, { locked, ahead }) => {
          // They need not wait for a commit that is not theirs.
          const leftOut = [...group].filter(({ organizationId }) => !locked.has(organizationId))
          for (const write of leftOut) group.delete(write)
          this.#letGo(leftOut)
          this.#start()
          return runBeside(connection, [...group], ahead, true)
        },
      )
      if (waits) this.#vainWaits = 0
      for (const [write, outcome] of outcomes) write.settle(outcome)
      this.#gather([...outcomes.values()].filter((outcome) => outcome !== undefined).length)
    } catch (error) {
      if (waits && isBusy(error)) this.#waitedInVainForLock()
      throw error
    }
  }

  #waitedInVainForLock(): void {
    this.#vainWaits += 1
    if (this.#vainWaits < MOST_VAIN_WAITS) return
    this.#vainWaits = 0
    this.#groupsNotToWaitForLock = GROUPS_AFTER_VAIN
  }

  /** Locks the organizations, or those that no other transaction has locked, and reads ahead. */
  async #begin(
    connection: PostgresConnection,
    group: readonly SharedWrite[],
    ids: string[],
    waits: boolean,
  ): Promise<Begun> {
    const lock = waits ? { ...LOCK_ORGANIZATION, values: ids } : { ...LOCK_FREE, values: [ids] }
    const locking = connection.query<{ id: string }>(lock)
    // Its other locks may take longer. If a single write has to run alone, little is lost.
    if (waits && group.length > 1)
      connection.send(connection.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`))
    // Both, so that no failure goes unhandled.
    const [{ rows }, ahead] = await Promise.all([locking, readAheadOf(connection, group, this.#replays)])
    return { locked: new Set(rows.map(({ id }) => id)), ahead }
  }

  /** Each organization gives its first write, then its second, so that none fills the group. */
  #take(): Set<SharedWrite> {
    // Their lock is that of another write of this node, which may take them along.
    const isLocked = ({ organizationId }: SharedWrite) => this.#turns.isWriting(organizationId)
    for (const write of this.#waiting.filter(isLocked)) write.settle(undefined)
    this.#waiting = this.#waiting.filter((write) => !isLocked(write))
    const counts = new Map<string, number>()
    const ranked = this.#waiting
      .filter(({ organizationId }) => !this.#busy.has(organizationId))
      .map((write) => {
        const rank = counts.get(write.organizationId) ?? 0
        counts.set(write.organizationId, rank + 1)
        return { write, rank }
      })
    const taken = ranked
      .toSorted((one, other) => one.rank - other.rank)
      .slice(0, MOST_TOGETHER)
      .map(({ write }) => write)
    for (const write of taken) {
      write.isTaken = true
      this.#busy.add(write.organizationId)
    }
    this.#waiting = this.#waiting.filter(({ isTaken }) => !isTaken)
    return new Set(taken)
  }
}
