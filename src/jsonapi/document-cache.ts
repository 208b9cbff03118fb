const WANTED_PLACES = 32_768

/**
 * Ready-made documents and parts of them, by keys whose meaning never changes: an id, its version and what the reader may
 * see. So nothing is ever invalidated, and any node may keep its own. What is not used leaves first.
 */
export class DocumentCache {
  /** What was wanted lately: the hash of a key at the place of its last digits. */
  readonly #wanted = new Uint32Array(WANTED_PLACES)
  readonly #limitBytes: number
  /** Two generations: what is not asked for while one fills is gone with the next. */
  #young = new Map<string, string | Buffer>()
  #youngBytes = 0
  #old = new Map<string, string | Buffer>()

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** What is larger is not kept. */
  get limitBytesOfOne(): number {
    return this.#limitBytes / 4
  }

  get<T extends string | Buffer>(key: string): T | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young as T
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old as T | undefined
  }

  /** For what is made fast: kept when it is wanted a second time, so that who leafs through everything displaces nothing. */
  setWhenWantedAgain(key: string, value: string | Buffer): void {
    const hash = hashOf(key)
    const place = hash % WANTED_PLACES
    if (this.#wanted[place] === hash) this.set(key, value)
    else this.#wanted[place] = hash
  }

  set(key: string, value: string | Buffer): void {
    const size = sizeOf(key, value)
    if (size > this.limitBytesOfOne) return
    const before = this.#young.get(key)
    if (before !== undefined) this.#youngBytes -= sizeOf(key, before)
    if (this.#youngBytes + size > this.#limitBytes / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, value)
    this.#youngBytes += size
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
