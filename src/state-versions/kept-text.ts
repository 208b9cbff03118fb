/** Raw text that is put together from runs of bytes, in one buffer that is used again for the next text. */
export class KeptText {
  /** The longest text, in bytes. */
  readonly limit: number
  #bytes = Buffer.alloc(1024)
  #length = 0

  constructor(limit: number) {
    this.limit = limit
  }

  /** Adds bytes from `start` to `end`; false when the text would be longer than the limit. */
  add(bytes: Buffer, start: number, end: number): boolean {
    const length = this.#length + end - start
    if (length > this.limit) return false
    if (length > this.#bytes.length) {
      const grown = Buffer.alloc(Math.max(length, Math.min(2 * this.#bytes.length, this.limit)))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    bytes.copy(this.#bytes, this.#length, start, end)
    this.#length = length
    return true
  }

  /** The text, with a last run added, and a new beginning; undefined when it is longer than the limit. */
  take(bytes: Buffer, start: number, end: number): string | undefined {
    // Most texts are one run, which need not be copied.
    if (this.#length === 0 && end - start <= this.limit) return bytes.toString('utf8', start, end)
    if (!this.add(bytes, start, end)) return undefined
    const text = this.#bytes.toString('utf8', 0, this.#length)
    this.#length = 0
    return text
  }
}
