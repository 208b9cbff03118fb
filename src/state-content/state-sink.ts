import { openDatabase, type DatabasePlace } from '../database/open.ts'
import { insertChunks } from './state-chunk-store.ts'
import type { OpenSink } from './content-thread.ts'

/**
 * Stores chunks over the thread's own connection, one small transaction each. These commits need not reach the disk at
 * once: the finalizing transaction comes later in the same log, so flushing it flushes them too.
 */
export const openSink: OpenSink = async (options) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- states.ts chooses the module and its options
  const { database } = await openDatabase(options as DatabasePlace, { isDurable: false, connections: 2 })
  return {
    store: async ({ kind, stateVersionId, uploadId }, chunk) => {
      if (kind !== 'json-state-outputs') {
        await database.write((tx) => insertChunks(tx, { kind, stateVersionId, uploadId }, [chunk]))
      }
    },
    close: () => database.close(),
  }
}
