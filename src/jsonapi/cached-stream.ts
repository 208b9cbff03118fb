import type { DocumentCache } from './document-cache.ts'

/** Passes the parts on and caches the whole document, unless it is too large. */
export async function* cachedWhileSent(
  documents: DocumentCache,
  key: string,
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  // One at a time, so that not every answer holds a copy.
  const isCollecting = documents.startCollecting()
  try {
    const gone: Uint8Array[] = []
    let size = 0
    for await (const part of parts) {
      size += part.length
      if (isCollecting && size <= documents.limitBytesOfOne) gone.push(part)
      else gone.length = 0
      yield part
    }
    if (isCollecting && size <= documents.limitBytesOfOne) documents.set(key, Buffer.concat(gone))
  } finally {
    if (isCollecting) documents.endCollecting()
  }
}
