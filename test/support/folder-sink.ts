import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChunkSink } from '../../src/state-content/content-thread.ts'

export type FolderSinkOptions = {
  folder: string
  /** Two 32-bit integers: the number of chunks so far, and 1 when they may be stored. */
  gate: SharedArrayBuffer
}

/**
 * Stores chunks as files, and creates a file when it is closed. It refuses an upload named `refuse`, and an upload
 * named `crash` ends the thread.
 */
export async function openSink(options: unknown): Promise<ChunkSink> {
  const { folder, gate } = options as FolderSinkOptions
  const flags = new Int32Array(gate)
  let storing = 0
  return {
    async store(upload, { number, sealed }) {
      Atomics.add(flags, 0, 1)
      Atomics.notify(flags, 0)
      if (upload.uploadId === 'refuse') throw new Error('disk full')
      if (upload.uploadId === 'crash') setImmediate(() => process.exit(7))
      storing++
      await Atomics.waitAsync(flags, 1, 0).value
      writeFileSync(join(folder, `${upload.uploadId}-${number}`), sealed)
      storing--
    },
    async close() {
      writeFileSync(join(folder, 'closed'), `${storing} unfinished`)
    },
  }
}
