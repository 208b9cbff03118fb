import type { DocumentCache } from './document-cache.ts'

/** Caches for which a document is being held while it is sent: one at a time, so that not every reader holds one. */
const keeping = new WeakSet<DocumentCache>()

/** Keeps what goes by, unless it is more than is kept of anything. */
export async function* kept(
  documents: DocumentCache,
  key: string,
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const isKeeper = !keeping.has(documents)
  if (isKeeper) keeping.add(documents)
  try {
    const gone: Uint8Array[] = []
    let size = 0
    for await (const part of parts) {
      size += part.length
      if (isKeeper && size <= documents.limitBytesOfOne) gone.push(part)
      else gone.length = 0
      yield part
    }
    if (isKeeper && size <= documents.limitBytesOfOne) documents.set(key, Buffer.concat(gone))
  } finally {
    if (isKeeper) keeping.delete(documents)
  }
}
