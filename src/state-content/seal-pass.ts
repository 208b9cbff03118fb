import { createHash } from 'node:crypto'
import { sealOutputs, type SealedOutputBlock } from '../outputs/output-blocks.ts'
import type { Outputs } from '../state-file/outputs-collector.ts'
import { sealPiece, type PieceAddress } from '../state-versions/state-crypto.ts'
import { StateReader, type StateHeader } from '../state-file/state-reader.ts'

/** Bytes of content in one stored chunk, before compression. */
export const CHUNK_BYTES = 256 * 1024

/**
 * One upload. A `state` is validated and stored; a `json-state` is only stored. `json-state-outputs` is the document
 * that supplies the outputs of an encrypted state: only its outputs are stored.
 */
export type Upload = {
  kind: 'state' | 'json-state' | 'json-state-outputs'
  stateVersionId: string
  /** Identifies the attempt. Chunks of an attempt that never completes are swept. */
  uploadId: string
  dataKey: Uint8Array
  /** Where the chunks go: the sink stores them, the caller gets them, or they are dropped. */
  chunks: 'stored' | 'returned' | 'dropped'
  /** If the outputs have more bytes, they are validated and counted, but left to a background job. */
  inlineOutputBytes: number
}

/** A numbered piece of the content, ready to be stored. */
export type SealedChunk = { number: number; sealed: Uint8Array<ArrayBuffer> }

export type PassResult = {
  /** Hash of all bytes, in hexadecimal digits. */
  md5: string
  size: number
  chunks: number
  /** Null unless the upload is a `state`. */
  header: StateHeader | null
  /** Null if there are none to read: for a `json-state` and an encrypted state. */
  outputs: SealedOutputs | null
}

/** The chunks that became complete, and what the content is. */
export type Passed = { chunks: SealedChunk[]; result: PassResult }

/** `blocks` is null if the outputs exceed `inlineOutputBytes`. */
type SealedOutputs = { count: number; bytes: number; blocks: SealedOutputBlock[] | null }

/** Processes the bytes of an upload in one pass while they arrive. Throws StateError. */
export class SealPass {
  readonly #upload: Upload
  readonly #hash = createHash('md5')
  /** Undefined for a `json-state`, which is only stored. */
  readonly #reader: StateReader | undefined
  #size = 0
  #chunks = 0
  /** A full chunk stays here until it is known whether it is the last one. */
  #chunk = new Uint8Array(0)
  #filled = 0

  constructor(upload: Upload) {
    this.#upload = upload
    if (upload.kind === 'state') this.#reader = new StateReader('state')
    if (upload.kind === 'json-state-outputs') this.#reader = new StateReader('outputs')
  }

  /** Bytes in memory beside one chunk: the outputs, until they are sealed. */
  get heldBytes(): number {
    return this.#reader?.heldBytes ?? 0
  }

  /** Processes the next bytes and keeps no reference to them. Returns the chunks that are now complete. */
  push(bytes: Uint8Array): SealedChunk[] {
    const { kind } = this.#upload
    this.#hash.update(bytes)
    this.#size += bytes.length
    this.#reader?.push(bytes)
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

  /** Returns the last chunk and a description of the content. */
  finish(): Passed {
    const { kind } = this.#upload
    const { header, outputs } = this.#reader?.finish() ?? { header: null, outputs: null }
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

  /** `json-state-outputs` is not stored as content, and a second pass over a stored state needs no new chunks. */
  #hasChunks(): boolean {
    return this.#upload.kind !== 'json-state-outputs' && this.#upload.chunks !== 'dropped'
  }

  /**
   * Grows the chunk buffer. The first size fits the first bytes, so a small state needs no more memory than its size.
   */
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

/** The whole pass on the calling thread, for small content in memory. Throws StateError. */
export function passAtOnce(upload: Upload, bytes: Uint8Array): Passed {
  const pass = new SealPass(upload)
  const chunks = pass.push(bytes)
  const end = pass.finish()
  return { chunks: [...chunks, ...end.chunks], result: end.result }
}
