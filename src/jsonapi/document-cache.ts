const WANTED_PLACES = 32_768

/**
 * Ready-made documents and parts of them, by keys whose meaning never changes: an id, its version and what the reader may
 * see. So nothing is ever invalidated, and any node may keep its own. The least recently used leave first.
 */
export class DocumentCache {
  /** What was wanted lately: the hash of a key at the place of its last digits. */
  readonly #wanted = new Uint32Array(WANTED_PLACES)
  readonly #limitBytes: number
  readonly #entries = new Map<string, string | Buffer>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get<T extends string | Buffer>(key: string): T | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    // A Map keeps the order of insertion: to the end with what is in use.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value as T
  }

  /** For what is made fast: kept when it is wanted a second time, so that who leafs through everything displaces nothing. */
  setWhenWantedAgain(key: string, value: string): void {
    const hash = hashOf(key)
    const place = hash % WANTED_PLACES
    if (this.#wanted[place] === hash) this.set(key, value)
    else this.#wanted[place] = hash
  }

  set(key: string, value: string | Buffer): void {
    const size = sizeOf(key, value)
    if (size > this.#limitBytes / 4) return
    const old = this.#entries.get(key)
    if (old !== undefined) this.#bytes -= sizeOf(key, old)
    this.#entries.delete(key)
    this.#entries.set(key, value)
    this.#bytes += size
    for (const [oldest, oldValue] of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= sizeOf(oldest, oldValue)
    }
  }
}

function sizeOf(key: string, value: string | Buffer): number {
  return key.length + value.length + 100
}

/** FNV-1a. */
function hashOf(key: string): number {
  let hash = 2_166_136_261
  for (let place = 0; place < key.length; place += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(place), 16_777_619)
  }
  return hash >>> 0
}
