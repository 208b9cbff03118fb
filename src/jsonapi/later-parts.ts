import { Readable } from 'node:stream'
import { randomBase58 } from '../core/ids.ts'
import type { Fragment, Identifier } from './document.ts'

/** What one answer may make at once; what is beyond is left for later, lest all other requests wait for it. */
const MAX_RESOURCES_AT_ONCE = 1_000
const MAX_BYTES_AT_ONCE = 1024 * 1024

/** Identifiers cost less than resources. */
const IDENTIFIERS_A_RESOURCE = 4

/** Nobody is told it, so that no text which somebody stored is taken for a mark. */
const MARK = randomBase58(22)
const marks = new RegExp(`\\{"type":"${MARK}","id":"(\\d+)"\\}`)

/** Some of the text of a document, or its bytes. */
export type Piece = string | Uint8Array

/** Resources or identifiers as JSON text, with commas between, in pieces of any length. At least one must come. */
type Make = () => AsyncIterable<Piece>

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

  /** How many more identifiers, as rows, may be read and made at once; how many were, also for nothing, is `tookIdentifiers`. */
  get roomForIdentifiers(): number {
    return Math.max(0, (MAX_RESOURCES_AT_ONCE - this.#resourcesAtOnce) * IDENTIFIERS_A_RESOURCE)
  }

  tookIdentifiers(count: number): void {
    this.#resourcesAtOnce += count / IDENTIFIERS_A_RESOURCE
  }

  /** The same as a resource among others. */
  addResources(make: Make): Fragment {
    return JSON.stringify(this.add(make))
  }

  /** The mark for a part, as an identifier among others. */
  add(make: Make): Identifier {
    this.#makes.push(make)
    return { type: MARK, id: String(this.#makes.length - 1) }
  }

  /** The body of the document: its text, or, where parts were left for later, the pieces of it. */
  bodyOf(document: string): string | Readable {
    return this.#makes.length === 0 ? document : Readable.from(this.piecesOf(document), { objectMode: false })
  }

  async *piecesOf(document: string): AsyncGenerator<Uint8Array> {
    const texts = document.split(marks)
    // Texts, and between them the numbers of marks.
    for (const [place, text] of texts.entries()) {
      if (place % 2 === 0) yield Buffer.from(text)
      else yield* bytesOf((this.#makes[Number(text)] as Make)())
    }
  }
}

/** One after the other, each of some resources or none, with commas between. */
export async function* joined(groups: AsyncIterable<string | AsyncIterable<Piece>>): AsyncGenerator<Piece> {
  let comma = ''
  for await (const group of groups) {
    let before = comma
    for await (const piece of typeof group === 'string' ? [group] : group) {
      if (piece.length === 0) continue
      if (before !== '') yield before
      yield piece
      before = ''
      comma = ','
    }
  }
}

async function* bytesOf(pieces: AsyncIterable<Piece>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    if (piece.length > 0) yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
}
