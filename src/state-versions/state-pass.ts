import { createHash } from 'node:crypto'
import { sealOutputs, type SealedOutputBlock } from './output-blocks.ts'
import type { Outputs } from './outputs-collector.ts'
import { sealPiece, type PieceAddress } from './state-crypto.ts'
import { OutputsDocumentReader, StateReader, type StateHeader } from './state-reader.ts'

/** Bytes of content in one stored chunk, before compression. */
export const CHUNK_BYTES = 256 * 1024

/**
 * One upload. A `state` is checked and stored, a `json-state` only stored, and of `json-state-outputs`, the document
 * that stands in for what cannot be read out of an encrypted state, only the outputs are kept.
 */
export type Upload = {
  kind: 'state' | 'json-state' | 'json-state-outputs'
  stateVersionId: string
  /** The attempt: chunks of one that does not come to its end are swept. */
  uploadId: string
  dataKey: Uint8Array
  /** What becomes of the chunks: the sink stores them, the caller gets them, or nobody needs them. */
  chunks: 'stored' | 'returned' | 'dropped'
  /** Outputs of more bytes are checked and counted, but left to a background job. */
  inlineOutputBytes: number
}

/** A piece of the content, in order, ready to be stored. */
export type SealedChunk = { number: number; sealed: Uint8Array<ArrayBuffer> }

export type PassResult = {
  /** Of all bytes, as hexadecimal digits. */
  md5: string
  size: number
  chunks: number
  /** Of a `state`. */
  header: StateHeader | null
  /** Null when there are none to be read: of a `json-state`, of an encrypted state. */
  outputs: SealedOutputs | null
}

/** `blocks` is null when the outputs are more than `inlineOutputBytes`. */
export type SealedOutputs = { count: number; bytes: number; blocks: SealedOutputBlock[] | null }

type Content = { header: StateHeader | null; outputs: Outputs | null }

/** Everything that is done to the bytes of an upload, in one go while they arrive. Throws StateError. */
export class StatePass {
  readonly #upload: Upload
  readonly #hash = createHash('md5')
  readonly #stateReader = new StateReader()
  readonly #outputsReader = new OutputsDocumentReader()
  #size = 0
  #chunks = 0
  /** A full chunk waits here too, until it is known whether it is the last. */
  #chunk = new Uint8Array(0)
  #filled = 0

  constructor(upload: Upload) {
    this.#upload = upload
  }

  /** What it keeps in memory beside one chunk: outputs, until they are sealed. */
  get heldBytes(): number {
    return this.#stateReader.heldBytes + this.#outputsReader.heldBytes
  }

  /** Takes in the next bytes, of which it keeps no hold; returns the chunks that are complete. */
  push(bytes: Uint8Array): SealedChunk[] {
    const { kind } = this.#upload
    this.#hash.update(bytes)
    this.#size += bytes.length
    if (kind === 'state') this.#stateReader.push(bytes)
    if (kind === 'json-state-outputs') this.#outputsReader.push(bytes)
    const chunks: SealedChunk[] = []
    if (!this.#hasChunks()) return chunks
    this.#reserve(Math.min(CHUNK_BYTES, this.#filled + bytes.length))
    for (let start = 0; start < bytes.length;) {
      if (this.#filled === CHUNK_BYTES) chunks.push(this.#seal(kind, false))
      const part = bytes.subarray(start, start + CHUNK_BYTES - this.#filled)
      this.#chunk.set(part, this.#filled)
      this.#filled += part.length
      start += part.length
    }
    return chunks
  }

  /** The last chunk, and what the content is. */
  finish(): { chunks: SealedChunk[]; result: PassResult } {
    const { kind } = this.#upload
    const { header, outputs } = this.#content()
    const chunks = this.#hasChunks() ? [this.#seal(kind, true)] : []
    const result = {
      md5: this.#hash.digest('hex'),
      size: this.#size,
      chunks: this.#chunks,
      header,
      outputs: outputs === null ? null : this.#sealOutputs(outputs),
    }
    return { chunks, result }
  }

  /** What stands in for an encrypted state's outputs is not content; what is only read again is stored already. */
  #hasChunks(): boolean {
    return this.#upload.kind !== 'json-state-outputs' && this.#upload.chunks !== 'dropped'
  }

  #content(): Content {
    if (this.#upload.kind === 'json-state') return { header: null, outputs: null }
    if (this.#upload.kind === 'json-state-outputs')
      return { header: null, outputs: this.#outputsReader.finish() }
    const { outputs, ...header } = this.#stateReader.finish()
    return { header, outputs }
  }

  /** Makes the chunk long enough: a small state that comes at once takes no more memory than it needs. */
  #reserve(length: number): void {
    if (length <= this.#chunk.length) return
    const longer = new Uint8Array(this.#chunk.length === 0 ? length : CHUNK_BYTES)
    longer.set(this.#chunk.subarray(0, this.#filled))
    this.#chunk = longer
  }

  #seal(kind: PieceAddress['kind'], isLast: boolean): SealedChunk {
    const { dataKey, stateVersionId, uploadId } = this.#upload
    const number = this.#chunks++
    const plain = this.#chunk.subarray(0, this.#filled)
    this.#filled = 0
    return { number, sealed: sealPiece(dataKey, { stateVersionId, kind, uploadId, number }, isLast, plain) }
  }

  #sealOutputs({ list, bytes }: Outputs): SealedOutputs {
    const { dataKey, stateVersionId, inlineOutputBytes } = this.#upload
    const blocks = bytes > inlineOutputBytes ? null : sealOutputs(dataKey, stateVersionId, list)
    return { count: list.length, bytes, blocks }
  }
}

/** The whole pass over bytes that are at hand, on the calling thread: for small ones. Throws StateError. */
export function passAtOnce(upload: Upload, bytes: Uint8Array): { chunks: SealedChunk[]; result: PassResult } {
  const pass = new StatePass(upload)
  const chunks = pass.push(bytes)
  const end = pass.finish()
  return { chunks: [...chunks, ...end.chunks], result: end.result }
}
