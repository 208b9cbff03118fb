import type { Config } from '../config.ts'
import { openDatabase } from '../database/open.ts'
import { insertChunks } from './state-chunk-store.ts'
import type { OpenSink } from './state-thread.ts'

export type SinkOptions = Pick<Config, 'data' | 'databaseUrl'>

/**
 * Stores chunks over a connection of the thread's own, each in a small transaction. They need not be on the disk yet when
 * this returns: the finalizing transaction comes after them in the same log, and is.
 */
export const openSink: OpenSink = async (options) => {
  const { database } = await openDatabase(options as SinkOptions, {
    isDurable: false,
    connections: 2,
  })
  return {
    store: async ({ kind, stateVersionId, uploadId }, chunk) => {
      if (kind !== 'json-state-outputs') {
        await database.write((tx) => insertChunks(tx, { kind, stateVersionId, uploadId }, [chunk]))
      }
    },
    close: () => database.close(),
  }
}
