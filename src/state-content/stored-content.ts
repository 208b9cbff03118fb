import { createHash } from 'node:crypto'
import { ownTurn } from '../core/turns.ts'
import type { ServerConfig } from '../config.ts'
import type { Database } from '../database/database.ts'
import { readingError } from '../state-versions/damaged-content.ts'
import { findChunk, type ContentKind, type UploadAddress } from './state-chunk-store.ts'
import { openPieces, SealError, unwrapDataKey } from '../state-versions/state-crypto.ts'
import { uploadOf, type StateVersionRow } from '../state-versions/state-version-store.ts'

export type ContentSource = { database: Database; config: Pick<ServerConfig, 'secretKey'> }

const names = { state: 'stored bytes', 'json-state': 'stored bytes of the JSON twin' } as const

/**
 * The stored content of a version, with one or two chunks in memory. Throws DamagedContentError if it is incomplete or
 * does not match the version's row. The last chunk is yielded only after that check, so a client that counts bytes
 * never takes damaged content for complete.
 */
export async function* storedContent(
  { database, config }: ContentSource,
  stateVersion: StateVersionRow,
  kind: ContentKind,
): AsyncGenerator<Uint8Array> {
  const { id, wrapped_key: wrapped } = stateVersion
  // Without an upload, no chunk is found, and the content counts as damaged.
  const address = { stateVersionId: id, kind, uploadId: uploadOf(stateVersion, kind) ?? '' }
  const hash = createHash('md5')
  let size = 0
  let last: Uint8Array | undefined
  try {
    const dataKey = unwrapDataKey(config.secretKey, id, wrapped)
    for await (const plain of openPieces(dataKey, address, sealedChunks(database, address))) {
      if (last !== undefined) yield last
      hash.update(plain)
      size += plain.length
      last = plain
    }
    compare(stateVersion, kind, { size, md5: hash.digest('hex') })
  } catch (error) {
    throw await readingError(database, stateVersion, names[kind], error)
  }
  if (last !== undefined) yield last
}

function compare(row: StateVersionRow, kind: ContentKind, found: { size: number; md5: string }): void {
  if (kind === 'state' && found.size !== row.size) {
    throw new SealError(`There are ${found.size} bytes and not ${row.size}`)
  }
  const md5 = kind === 'state' ? row.md5 : row.json_md5
  if (found.md5 !== md5) throw new SealError(`Their MD5 hash is ${found.md5} and not ${md5}`)
}

/**
 * The stored chunks of a content. Each is read in its own transaction, so a slow client holds none open, and in its own
 * turn: on SQLite with a fast socket the loop would never wait otherwise, and would block other requests.
 */
async function* sealedChunks(database: Database, address: UploadAddress): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    await ownTurn()
    const sealed = await database.read((tx) => findChunk(tx, address, number))
    if (sealed === undefined) return
    yield sealed
  }
}
