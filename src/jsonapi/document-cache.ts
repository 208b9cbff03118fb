/**
 * Ready-made documents and parts of them, by keys whose meaning never changes: an id, its version and what the reader may
 * see. So nothing is ever invalidated, and any node may keep its own. The least recently used leave first.
 */
export class DocumentCache {
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
