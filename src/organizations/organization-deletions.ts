import type { Logger } from 'pino'
import type { Database } from '../database/database.ts'
import { deleteSlice, findDeletedOrganization } from './organization-deletion-store.ts'

const LOOK_EVERY_MS = 5_000

/**
 * Deletes what deleted organizations held: in small transactions beside the requests, since one may hold years of states.
 * Every node does it, also what another one left unfinished: a slice that is gone already is no work.
 */
export class OrganizationDeletions {
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
      while (!this.#isStopping) {
        const id = await this.#database.read(findDeletedOrganization)
        if (id === undefined) return
        await this.#database.write((tx) => deleteSlice(tx, id))
      }
    } catch (error) {
      this.#log.warn({ error }, 'a deleted organization could not be cleared away yet')
    }
  }
}
