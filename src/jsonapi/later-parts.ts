import { existing } from '../core/existing.ts'
import { Readable } from 'node:stream'
import { randomBase58 } from '../core/ids.ts'
import type { Fragment, Identifier } from './document.ts'

/** Limits of what one answer makes at once. The rest is made while it is sent, so that other requests do not wait. */
const MAX_RESOURCES_AT_ONCE = 1_000
const MAX_BYTES_AT_ONCE = 1024 * 1024

/** Identifiers cost less than resources. */
const IDENTIFIERS_A_RESOURCE = 4

/** Random and never sent, so stored text cannot collide with a placeholder. */
const MARK = randomBase58(22)
const marks = new RegExp(`\\{"type":"${MARK}","id":"(\\d+)"\\}`)

/** A part of a document, as text or bytes. */
export type Piece = string | Uint8Array

/** Yields at least one resource or identifier as JSON text, separated by commas, in pieces of any length. */
type Make = () => AsyncIterable<Piece>

/** Parts of a document that are made while it is sent. Until then placeholders stand for them in the text. */
export class LaterParts {
  readonly #makes: Make[] = []
  #resourcesAtOnce = 0
  #bytesAtOnce = 0

  /** Reserves room for this much at once. Returns false if there is not enough. */
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

  /** How many more identifiers may be made at once. Tell `tookIdentifiers` how many rows were read, even in vain. */
  get roomForIdentifiers(): number {
    return Math.max(0, (MAX_RESOURCES_AT_ONCE - this.#resourcesAtOnce) * IDENTIFIERS_A_RESOURCE)
  }

  tookIdentifiers(count: number): void {
    this.#resourcesAtOnce += count / IDENTIFIERS_A_RESOURCE
  }

  /** As `add`, but the placeholder is a resource. */
  addResources(make: Make): Fragment {
    return JSON.stringify(this.add(make))
  }

  /** Adds a part. Returns its placeholder, an identifier for a relationship. */
  add(make: Make): Identifier {
    this.#makes.push(make)
    return { type: MARK, id: String(this.#makes.length - 1) }
  }

  /** The body of the document: its text, or a stream if parts are made later. */
  bodyOf(document: string): string | Readable {
    return this.#makes.length === 0 ? document : Readable.from(this.piecesOf(document), { objectMode: false })
  }

  async *piecesOf(document: string): AsyncGenerator<Uint8Array> {
    const texts = document.split(marks)
    // Even entries are text; odd ones are numbers of placeholders.
    for (const [place, text] of texts.entries()) {
      if (place % 2 === 0) yield Buffer.from(text)
      else yield* bytesOf(existing(this.#makes[Number(text)])())
    }
  }
}

/** Joins groups with commas. A group yields some resources or none. */
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
