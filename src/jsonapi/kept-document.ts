import type { DocumentCache } from './document-cache.ts'

/** Caches that are collecting a document while it is sent. One at a time, so that not every answer holds a copy. */
const keeping = new WeakSet<DocumentCache>()

/** Passes the parts on and caches the whole document, unless it is too large. */
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
