import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OperatorError, reasonOf, writingTo } from '../core/operator-error.ts'
import type { Measured } from './read-state.ts'

const CIPHER = 'aes-256-ctr'
const CHUNK_BYTES = 1024 * 1024
const HEAD_BYTES = 64 * 1024

/**
 * Temporary storage for content of any size, in a deleted file, encrypted with a key that only this process has. So a
 * state needs little memory and is never stored unencrypted.
 */
export class Spool implements Measured {
  readonly #file: number
  #content = noContent()

  constructor() {
    const name = join(tmpdir(), `purser-${randomBytes(16).toString('hex')}`)
    this.#file = writingTo(tmpdir(), () => {
      const file = openSync(name, 'wx+', 0o600)
      unlinkSync(name)
      return file
    })
  }

  restart(): void {
    ftruncateSync(this.#file)
    this.#content = noContent()
  }

  write(chunk: Uint8Array): void {
    const content = this.#content
    if (content.head.length < HEAD_BYTES) {
      content.head = Buffer.concat([content.head, chunk.subarray(0, HEAD_BYTES - content.head.length)])
    }
    content.hash.update(chunk)
    writeAll(this.#file, content.cipher.update(chunk), content.size)
    content.size += chunk.length
  }

  get size(): number {
    return this.#content.size
  }

  /** The first bytes. */
  get head(): Buffer {
    return this.#content.head
  }

  /** Hash of all bytes so far. */
  get md5(): string {
    return this.#content.hash.copy().digest('hex')
  }

  /** All bytes from the beginning. Can be called repeatedly. */
  *chunks(): Generator<Buffer> {
    const { key, iv, size } = this.#content
    const decipher = createDecipheriv(CIPHER, key, iv)
    for (let position = 0; position < size;) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - position))
      const count = readSync(this.#file, chunk, 0, chunk.length, position)
      position += count
      yield decipher.update(chunk.subarray(0, count))
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

function noContent() {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const head: Buffer = Buffer.alloc(0)
  return { key, iv, cipher: createCipheriv(CIPHER, key, iv), hash: createHash('md5'), head, size: 0 }
}

/** Loops, because one write may take fewer bytes than given. */
export function writeAll(file: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(file, bytes, done, bytes.length - done, position + done)
    }
  } catch (error) {
    throw new OperatorError(`cannot write: ${reasonOf(error)}`)
  }
}
