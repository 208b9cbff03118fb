import type { Logger } from 'pino'
import { BackgroundLoop } from '../database/background-loop.ts'
import type { Database, Transaction } from '../database/database.ts'
import { deleteSlice, findDeletedOrganization } from './organization-deletion-store.ts'
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
export function deletions(database: Database, log: Logger): BackgroundLoop {
  const failure = 'what was deleted could not be cleared away yet'
  const loop = new BackgroundLoop({ everyMs: LOOK_EVERY_MS, log, failure }, async () => {
    for (const { find, deleteSome } of kinds) {
      while (!loop.isStopping) {
        const id = await database.read(find)
        if (id === undefined) break
        await database.write((tx) => deleteSome(tx, id))
      }
    }
  })
  return loop
}
