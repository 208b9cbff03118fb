import {
  createCipheriv,
  createDecipheriv,
  createHash,
  randomBytes,
  type Cipheriv,
  type Hash,
} from 'node:crypto'
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
  #secret = newSecret()
  #cipher: Cipheriv = encryption(this.#secret)
  #hash: Hash = createHash('md5')
  #head: Buffer = Buffer.alloc(0)
  size = 0

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
    this.#secret = newSecret()
    this.#cipher = encryption(this.#secret)
    this.#hash = createHash('md5')
    this.#head = Buffer.alloc(0)
    this.size = 0
  }

  write(chunk: Uint8Array): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, HEAD_BYTES - this.#head.length)])
    }
    this.#hash.update(chunk)
    writeAll(this.#file, this.#cipher.update(chunk), this.size)
    this.size += chunk.length
  }

  /** The first bytes. */
  get head(): Buffer {
    return this.#head
  }

  /** Hash of all bytes so far. */
  get md5(): string {
    return this.#hash.copy().digest('hex')
  }

  /** All bytes from the beginning. Can be called repeatedly. */
  *chunks(): Generator<Buffer> {
    const decipher = createDecipheriv(CIPHER, this.#secret.key, this.#secret.iv)
    for (let position = 0; position < this.size;) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, this.size - position))
      const count = readSync(this.#file, chunk, 0, chunk.length, position)
      position += count
      yield decipher.update(chunk.subarray(0, count))
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }
}

const newSecret = () => ({ key: randomBytes(32), iv: randomBytes(16) })

function encryption({ key, iv }: ReturnType<typeof newSecret>): Cipheriv {
  return createCipheriv(CIPHER, key, iv)
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
