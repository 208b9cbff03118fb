import type { Database } from '../database/database.ts'
import { SITE } from './audit-chain-store.ts'
import { chainAuditEvents, type UnchainedEvent } from './audit-chains.ts'
import type { AuditKey } from './audit-links.ts'
import { unchained, type AuditContext, type AuditEvent } from './audit-store.ts'

const MOST_AT_ONCE = 100

type Waiting = { events: UnchainedEvent[]; resolve: () => void; reject: (reason: unknown) => void }

/**
 * Writes the audit events of reads. Events of one organization queue at its chain. So events that arrive during a
 * transaction share the next one, and a reader waits for at most two commits.
 */
export class Reveals {
  readonly #database: Database
  readonly #key: AuditKey
  /** By organization; an entry exists while its events are being written. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(database: Database, key: AuditKey) {
    this.#database = database
    this.#key = key
  }

  /** Resolves when the events of a request are on the disk. */
  write(context: Omit<AuditContext, 'key'>, events: readonly AuditEvent[]): Promise<void> {
    const organizationId = events[0]?.organizationId ?? SITE
    return new Promise((resolve, reject) => {
      const own = { events: events.map((event) => unchained(context, event)), resolve, reject }
      const waiting = this.#waiting.get(organizationId)
      if (waiting !== undefined) {
        waiting.push(own)
        return
      }
      this.#waiting.set(organizationId, [own])
      void this.#writeWaiting(organizationId)
    })
  }

  async #writeWaiting(organizationId: string): Promise<void> {
    const waiting = this.#waiting.get(organizationId) ?? []
    while (waiting.length > 0) {
      const batch: Waiting[] = []
      try {
        await this.#database.write(async (tx) => {
          // Take events inside the transaction: those that arrived while it waited or retried are included.
          batch.push(...waiting.splice(0, MOST_AT_ONCE - batch.length))
          await chainAuditEvents(
            tx,
            this.#key,
            batch.flatMap(({ events }) => events),
          )
        })
        for (const { resolve } of batch) resolve()
      } catch (error) {
        // If no transaction began, nothing was taken: reject all waiting events, or they would wait for ever.
        if (batch.length === 0) batch.push(...waiting.splice(0))
        for (const { reject } of batch) reject(error)
      }
    }
    this.#waiting.delete(organizationId)
  }
}
