import { Readable } from 'node:stream'
import { randomBase58 } from '../core/ids.ts'
import type { Identifier } from './document.ts'

/** What one answer may make at once; what is beyond is left for later, lest all other requests wait for it. */
const MAX_RESOURCES_AT_ONCE = 1_000
const MAX_BYTES_AT_ONCE = 1024 * 1024

/** Nobody is told it, so that no text which somebody stored is taken for a mark. */
const MARK = randomBase58(22)
const marks = new RegExp(`\\{"type":"${MARK}","id":"(\\d+)"\\}`)

/** Resources or identifiers as JSON text, with commas between, some at a time. At least one must come. */
type Make = () => AsyncIterable<string>

/** Parts of one document that are made while it is sent: in its text, marks stand for them until then. */
export class LaterParts {
  readonly #makes: Make[] = []
  #resourcesAtOnce = 0
  #bytesAtOnce = 0

  /** Whether so much more may be made at once. */
  hasRoomFor(resources: number, bytes: number): boolean {
    const isWithin =
      this.#resourcesAtOnce + resources <= MAX_RESOURCES_AT_ONCE &&
      this.#bytesAtOnce + bytes <= MAX_BYTES_AT_ONCE
    if (isWithin) {
      this.#resourcesAtOnce += resources
      this.#bytesAtOnce += bytes
    }
    return isWithin
  }

  /** The mark for a part: an identifier among others or, as JSON text, a resource among others. */
  add(make: Make): Identifier {
    this.#makes.push(make)
    return { type: MARK, id: String(this.#makes.length - 1) }
  }

  /** The body of the document: its text, or, where parts were left for later, the pieces of it. */
  bodyOf(document: string): string | Readable {
    return this.#makes.length === 0 ? document : Readable.from(this.piecesOf(document), { objectMode: false })
  }

  async *piecesOf(document: string): AsyncGenerator<Buffer> {
    const texts = document.split(marks)
    // Texts, and between them the numbers of marks.
    for (const [place, text] of texts.entries()) {
      if (place % 2 === 0) {
        yield Buffer.from(text)
        continue
      }
      let comma = ''
      for await (const piece of (this.#makes[Number(text)] as Make)()) {
        yield Buffer.from(comma + piece)
        comma = ','
      }
    }
  }
}
