import { isUtf8 } from 'node:buffer'
import { StateError } from './state-error.ts'

/** Length of the sequence that `lead` begins. A byte that begins no sequence counts as one; isUtf8 rejects it later. */
function sequenceLength(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** The length of `bytes` without an incomplete sequence at the end. */
function withoutCutSequence(bytes: Uint8Array): number {
  const { length } = bytes
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0
    if ((byte & 0xc0) !== 0x80) return sequenceLength(byte) > back ? length - back : length
  }
  return length
}

/** Checks that a file arriving in chunks is valid UTF-8. A chunk boundary may split a sequence. */
export class Utf8Check {
  readonly #subject: string
  /** An incomplete sequence from the previous chunks. */
  #cut = new Uint8Array(0)
  #position = 0

  constructor(subject: string) {
    this.#subject = subject
  }

  push(bytes: Uint8Array): void {
    let start = 0
    if (this.#cut.length > 0) {
      start = sequenceLength(this.#cut[0] ?? 0) - this.#cut.length
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
    // Not slice(): on a Buffer it does not copy, and the caller reuses the memory.
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

/** The start of the first invalid sequence. isUtf8 does not tell it, so search for the longest valid prefix. */
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
