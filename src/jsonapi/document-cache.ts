const WANTED_PLACES = 32_768
/** What an entry takes beside its content and key. */
const BYTES_OF_TEXT = 100
const BYTES_OF_BUFFER = 550

/**
 * A cache of documents and their parts. The key has id, version and the reader's rights, so its value never changes and
 * nothing is ever invalidated; each node can have its own cache. Unused entries are dropped first.
 */
export class DocumentCache {
  /** Keys that were requested lately: each slot has the full hash of the last key that fell into it. */
  readonly #wanted = new Uint32Array(WANTED_PLACES)
  readonly #limitBytes: number
  /** Two generations: an entry that is not read while the young one fills up is dropped with the old one. */
  #young = new Map<string, string | Buffer>()
  #youngBytes = 0
  #old = new Map<string, string | Buffer>()
  #isCollecting = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** A larger document is not cached. */
  get #limitBytesOfOne(): number {
    return this.#limitBytes / 4
  }

  get<T extends string | Buffer>(key: string): T | undefined {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is for texts or for bytes
    return (this.#young.get(key) ?? this.#fromOld(key)) as T | undefined
  }

  #fromOld(key: string): string | Buffer | undefined {
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  /** Passes the parts on and caches the whole document, unless it is too large. */
  async *keepWhileSent(key: string, parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    // One at a time, so that not every answer holds a copy.
    if (this.#isCollecting) {
      yield* parts
      return
    }
    this.#isCollecting = true
    try {
      const gone: Uint8Array[] = []
      let size = 0
      for await (const part of parts) {
        size += part.length
        if (size <= this.#limitBytesOfOne) gone.push(part)
        else gone.length = 0
        yield part
      }
      if (size <= this.#limitBytesOfOne) this.set(key, Buffer.concat(gone))
    } finally {
      this.#isCollecting = false
    }
  }

  /**
   * For cheap documents: caches only at the second request, so that a client that reads everything displaces nothing.
   */
  setWhenWantedAgain(key: string, value: string | Buffer): void {
    const hash = hashOf(key)
    const place = hash % WANTED_PLACES
    if (this.#wanted[place] === hash) this.set(key, value)
    else this.#wanted[place] = hash
  }

  set(key: string, value: string | Buffer): void {
    const size = sizeOf(key, value)
    if (size > this.#limitBytesOfOne) return
    const before = this.#young.get(key)
    if (before !== undefined) this.#youngBytes -= sizeOf(key, before)
    if (this.#youngBytes + size > this.#limitBytes / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, typeof value === 'string' ? value : inOwnMemory(value))
    this.#youngBytes += size
  }
}

/** Node makes short Buffers as parts of a block of 64 KiB. One that is kept would keep the whole block. */
function inOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}

function sizeOf(key: string, value: string | Buffer): number {
  const entry = typeof value === 'string' ? BYTES_OF_TEXT : BYTES_OF_BUFFER
  return key.length + value.length + entry
}

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 2_166_136_261
  for (let place = 0; place < key.length; place += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(place), 16_777_619)
  }
  return hash >>> 0
}
