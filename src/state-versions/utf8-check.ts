import { isUtf8 } from 'node:buffer'
import { StateError } from './state-error.ts'

/** Bytes of the sequence that `lead` begins. A byte that begins none counts as one: isUtf8 refuses it. */
function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** The length of `bytes` without a sequence that is cut off at its end. */
function withoutCutSequence(bytes: Uint8Array): number {
  const { length } = bytes
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] as number
    if ((byte & 0xc0) !== 0x80) return sequenceLength(byte) > back ? length - back : length
  }
  return length
}

/** Checks that a file that arrives in chunks is UTF-8; sequences may be cut by the borders of chunks. */
export class Utf8Check {
  readonly #subject: string
  /** A sequence that the chunks so far have not ended. */
  #cut = new Uint8Array(0)
  #position = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  push(bytes: Uint8Array): void {
    let start = 0
    if (this.#cut.length > 0) {
      start = sequenceLength(this.#cut[0] as number) - this.#cut.length
      const whole = Uint8Array.from([...this.#cut, ...bytes.subarray(0, start)])
      if (bytes.length < start) {
        this.#cut = whole
        return
      }
      if (!isUtf8(whole)) this.#fail(this.#position)
      this.#position += whole.length
    }
    const rest = bytes.subarray(start)
    const whole = withoutCutSequence(rest)
    if (!isUtf8(rest.subarray(0, whole))) this.#fail(this.#position + firstProblem(rest))
    // Not slice(): a Buffer's does not copy, and the caller uses the memory again.
    this.#cut = Uint8Array.from(rest.subarray(whole))
    this.#position += whole
  }

  finish(): void {
    if (this.#cut.length > 0) this.#fail(this.#position)
  }

  #fail(offset: number): never {
    throw new StateError('not-utf8', `${this.#subject} is not UTF-8`, offset)
  }
}

/** Where the first ill-formed sequence begins. isUtf8 does not say, so the longest good beginning is searched for. */
function firstProblem(bytes: Uint8Array): number {
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    const start = bytes.subarray(0, middle)
    if (isUtf8(start.subarray(0, withoutCutSequence(start)))) good = middle
    else bad = middle
  }
  return withoutCutSequence(bytes.subarray(0, good))
}
