import { StringDecoder } from 'node:string_decoder'
import { existing } from '../core/existing.ts'

const FIRST_PAGE_BYTES = 1024
const MAX_PAGE_BYTES = 256 * 1024

/** Collects raw text from runs of bytes. It grows by pages, so a long text is never copied to make room. */
export class TextBuffer {
  /** Maximum length of a text, in bytes. */
  readonly limit: number
  /** The first page is reused for the next text. */
  readonly #pages: Buffer[] = [Buffer.allocUnsafeSlow(FIRST_PAGE_BYTES)]
  /** Bytes used in the last page. */
  #filled = 0
  #length = 0
  heldBytes = FIRST_PAGE_BYTES

  constructor(limit: number) {
    this.limit = limit
  }

  /** Appends the bytes from `start` to `end` (exclusive). Returns false if the text exceeds the limit. */
  add(bytes: Buffer, start: number, end: number): boolean {
    this.#length += end - start
    if (this.#length > this.limit) return false
    for (let at = start; at < end;) {
      let page = existing(this.#pages.at(-1))
      if (this.#filled === page.length) {
        page = Buffer.allocUnsafeSlow(Math.min(2 * page.length, MAX_PAGE_BYTES))
        this.#pages.push(page)
        this.#filled = 0
        this.heldBytes += page.length
      }
      const copied = bytes.copy(page, this.#filled, at, end)
      this.#filled += copied
      at += copied
    }
    return true
  }

  /** Appends a last run, returns the whole text and resets. Undefined if the text exceeds the limit. */
  take(bytes: Buffer, start: number, end: number): string | undefined {
    // Most texts are a single run and need no copy.
    if (this.#length === 0 && end - start <= this.limit) return bytes.toString('utf8', start, end)
    if (!this.add(bytes, start, end)) return undefined
    const decoder = new StringDecoder('utf8')
    const last = this.#pages.length - 1
    const text = this.#pages
      .map((page, index) => decoder.write(index === last ? page.subarray(0, this.#filled) : page))
      .join('')
    this.#pages.length = 1
    this.#filled = 0
    this.#length = 0
    this.heldBytes = FIRST_PAGE_BYTES
    return text
  }
}
