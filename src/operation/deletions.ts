import type { Logger } from 'pino'
import type { Database, Transaction } from '../database/database.ts'
import { logRepeated } from '../database/unavailable.ts'
import { deleteSlice, findDeletedOrganization } from '../organizations/organization-deletion-store.ts'
import { deleteOfTag, findDeletedTag } from '../tags/tag-store.ts'

const LOOK_EVERY_MS = 5_000

/** A kind of object that disappears for callers at once, while its many rows are deleted later. */
type Kind = {
  /** Finds a deleted object that still has rows. */
  find: (tx: Transaction) => Promise<string | undefined>
  deleteSome: (tx: Transaction, id: string) => Promise<void>
}

const kinds: readonly Kind[] = [
  { find: findDeletedTag, deleteSome: deleteOfTag },
  { find: findDeletedOrganization, deleteSome: deleteSlice },
]

/**
 * Deletes the remaining rows of deleted tags and organizations. There may be years of states, so it uses small
 * transactions between requests. Every node does this, also for deletions of a node that died: an empty slice is
 * harmless.
 */
export class Deletions {
  readonly #database: Database
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  #isStopping = false

  constructor(database: Database, log: Logger) {
    this.#database = database
    this.#log = log
    this.#timer = setInterval(() => void this.drain(), LOOK_EVERY_MS).unref()
  }

  /** Resolves when nothing is left to delete. */
  drain(): Promise<void> {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      for (const { find, deleteSome } of kinds) {
        while (!this.#isStopping) {
          const id = await this.#database.read(find)
          if (id === undefined) break
          await this.#database.write((tx) => deleteSome(tx, id))
        }
      }
    } catch (error) {
      logRepeated(this.#log, error, 'what was deleted could not be cleared away yet')
    }
  }
}
