/** Raw text that is put together from runs of bytes, in one buffer that is used again for the next text. */
export class KeptText {
  readonly limit: number
  #bytes = Buffer.alloc(1024)
  #length = 0

  /** `limit`: the longest text, in bytes. */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Adds bytes from `start` to `end`; false when the text would be longer than the limit. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const length = this.#length + end - start
    if (length > this.limit) return false
    if (length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(length, Math.min(2 * this.#bytes.length, this.limit)))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(bytes.subarray(start, end), this.#length)
    this.#length = length
    return true
  }

  /** The text, and a new beginning. */
  take(): string {
    const text = this.#bytes.toString('utf8', 0, this.#length)
    this.#length = 0
    return text
  }
}
