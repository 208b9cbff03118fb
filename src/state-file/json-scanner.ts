import {
  arePlain,
  FOUR_SPACES,
  isHex,
  isPlain,
  isShortEscape,
  isSpace,
  numberMayEnd,
  numberSteps,
  wordOf,
} from './json-grammar.ts'
import type { JsonVisitor } from './json-visitor.ts'
import { TextBuffer } from './text-buffer.ts'
import { StateError, type StateErrorCode } from './state-error.ts'
import { Utf8Check } from './utf8-check.ts'

/** Maximum nesting of objects and arrays in a document. */
const MAX_DEPTH = 500

const VALUE = 0
const FIRST_ITEM = 1
const FIRST_NAME = 2
const NAME = 3
const COLON = 4
const AFTER_VALUE = 5
const DONE = 6
/** States from here on are inside a token, which may continue in the next chunk. */
const STRING = 7
const ESCAPE = 8
const HEX = 9
const NUMBER = 10
const WORD = 11

/**
 * Strict reader of one JSON document (RFC 8259, UTF-8) in chunks of any size, in one pass. It stores only the text that
 * the visitor captures. Throws StateError.
 */
export class JsonScanner {
  readonly #visitor: JsonVisitor
  readonly #subject: string
  #state = VALUE
  /** Bytes before the current chunk. */
  #position = 0
  #depth = 0
  /** By depth: 1 for an object, 0 for an array. */
  readonly #isObject: Uint8Array
  readonly #maxDepth: number
  /** The visitor is called for values at this depth, directly inside the object or array that it opened last. */
  #openDepth = 0
  #view: DataView = new DataView(new ArrayBuffer(0))
  #inName = false
  #name = ''
  #hexLeft = 0
  #number = 0
  #word: Uint8Array = new Uint8Array(0)
  #wordRead = 0
  #capturing = false
  /** The visitor wants only the position of the captured value, not its text. */
  #placing = false
  #captureStart = 0
  #captured = 0
  /** Start, in the current chunk, of the bytes that are not yet copied to the captured text. */
  #runStart = 0
  readonly #buffer: TextBuffer
  readonly #utf8: Utf8Check

  /** `subject` names the document in messages ("The state"); `maxCapture` limits a captured text, in bytes. */
  constructor(visitor: JsonVisitor, subject: string, maxCapture: number, maxDepth = MAX_DEPTH) {
    this.#maxDepth = maxDepth
    this.#isObject = new Uint8Array(maxDepth + 1)
    this.#visitor = visitor
    this.#subject = subject
    this.#buffer = new TextBuffer(maxCapture)
    this.#utf8 = new Utf8Check(subject)
  }

  /** Bytes of all captured texts, including the current one. A text counts even after the visitor dropped it. */
  get heldBytes(): number {
    return this.#captured + this.#buffer.heldBytes
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    this.#utf8.push(bytes)
    this.#runStart = 0
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const { length } = bytes
    let at = 0
    while (at < length) {
      const state = this.#state
      if (state >= STRING) {
        at = this.#token(bytes, at)
        continue
      }
      let byte = bytes[at]!
      if (isSpace[byte] === 1) {
        at = this.#space(bytes, at)
        if (at === length) break
        byte = bytes[at]!
      }
      if (state === VALUE) at = this.#beginValue(bytes, at, byte)
      else if (byte === 0x22 /* " */ && state <= NAME && state >= FIRST_NAME) at = this.#beginName(bytes, at)
      else if (byte === 0x2c /* , */ && state === AFTER_VALUE) {
        this.#state = this.#isObject[this.#depth] === 1 ? NAME : VALUE
        at++
      } else if (byte === 0x3a /* : */ && state === COLON) {
        this.#state = VALUE
        at++
      } else at = this.#punctuation(bytes, at, byte)
    }
    if (this.#capturing) this.#keep(bytes, length)
    this.#position += length
  }

  finish(): void {
    this.#utf8.finish()
    if (this.#state !== DONE) this.#fail('not-json', 'is cut off: it ends', 0)
  }

  #space(bytes: Buffer, start: number): number {
    if (this.#capturing) this.#keep(bytes, start)
    const view = this.#view
    let at = start + 1
    while (at + 4 <= bytes.length && view.getInt32(at, true) === FOUR_SPACES) at += 4
    while (at < bytes.length && isSpace[bytes[at]!] === 1) at++
    this.#runStart = at
    return at
  }

  /** Handles the rare cases outside the main loop: closing brackets, first items and errors. */
  #punctuation(bytes: Buffer, at: number, byte: number): number {
    const inObject = this.#isObject[this.#depth] === 1
    const mayEnd = this.#state === AFTER_VALUE || this.#state === (inObject ? FIRST_NAME : FIRST_ITEM)
    if (mayEnd && byte === (inObject ? 0x7d : 0x5d) /* } or ] */) {
      this.#close(bytes, at + 1)
      return at + 1
    }
    if (this.#state !== FIRST_ITEM) this.#unexpected(at)
    return this.#beginValue(bytes, at, byte)
  }

  #beginName(bytes: Buffer, at: number): number {
    this.#state = STRING
    this.#inName = true
    if (this.#depth === this.#openDepth) this.#startCapture(at)
    return this.#string(bytes, at + 1)
  }

  #beginValue(bytes: Buffer, at: number, byte: number): number {
    const interest = this.#depth === this.#openDepth ? this.#visitor.begin(this.#name, byte) : 'skip'
    if (interest === 'capture' || interest === 'place') this.#startCapture(at, interest === 'place')
    if (byte === 0x22 /* " */) {
      this.#state = STRING
      return this.#string(bytes, at + 1)
    }
    if (byte === 0x7b /* { */ || byte === 0x5b /* [ */) {
      if (this.#depth === this.#maxDepth)
        this.#fail('too-deep', `is nested deeper than ${this.#maxDepth}`, at)
      const isObject = byte === 0x7b
      this.#isObject[++this.#depth] = isObject ? 1 : 0
      this.#state = isObject ? FIRST_NAME : FIRST_ITEM
      if (interest === 'open') this.#openDepth = this.#depth
      return at + 1
    }
    const word = wordOf.get(byte)
    if (word !== undefined) {
      this.#word = word
      this.#wordRead = 0
      this.#state = WORD
    } else {
      if (numberSteps[byte] === 0) this.#unexpected(at)
      this.#number = 0
      this.#state = NUMBER
    }
    return this.#token(bytes, at)
  }

  #close(bytes: Buffer, end: number): void {
    if (this.#depth === this.#openDepth) {
      this.#openDepth--
      this.#visitor.end()
    }
    this.#depth--
    this.#endValue(bytes, end)
  }

  #endValue(bytes: Buffer, end: number): void {
    this.#state = this.#depth === 0 ? DONE : AFTER_VALUE
    if (this.#capturing && this.#depth === this.#openDepth) {
      this.#visitor.captured(this.#takeCapture(bytes, end), this.#captureStart, this.#position + end)
    }
  }

  /** Continues the current token. Returns the position after it, or the chunk's length if the token continues. */
  #token(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case STRING:
        return this.#string(bytes, at)
      case NUMBER:
        return this.#continueNumber(bytes, at)
      case ESCAPE:
        return this.#escape(bytes[at]!, at)
      case HEX:
        if (isHex[bytes[at]!] === 0) this.#unexpected(at)
        if (--this.#hexLeft === 0) this.#state = STRING
        return at + 1
      default:
        if (bytes[at] !== this.#word[this.#wordRead]) this.#unexpected(at)
        if (++this.#wordRead === this.#word.length) this.#endValue(bytes, at + 1)
        return at + 1
    }
  }

  #string(bytes: Buffer, start: number): number {
    const { length } = bytes
    const view = this.#view
    let at = start
    for (;;) {
      while (at + 4 <= length && arePlain(view.getInt32(at, true))) at += 4
      while (at < length && isPlain[bytes[at]!] === 1) at++
      if (at === length) return at
      if (bytes[at] === 0x22 /* " */) {
        this.#endString(bytes, at + 1)
        return at + 1
      }
      if (bytes[at] !== 0x5c /* \ */) this.#unexpected(at)
      if (at + 1 === length || isShortEscape[bytes[at + 1]!] === 0) break
      at += 2
    }
    this.#state = ESCAPE
    return at + 1
  }

  #escape(byte: number, at: number): number {
    if (byte === 0x75 /* u */) {
      this.#hexLeft = 4
      this.#state = HEX
    } else {
      if (isShortEscape[byte] === 0) this.#unexpected(at)
      this.#state = STRING
    }
    return at + 1
  }

  #endString(bytes: Buffer, end: number): void {
    if (!this.#inName) return this.#endValue(bytes, end)
    this.#inName = false
    this.#state = COLON
    if (this.#capturing && this.#depth === this.#openDepth) this.#name = this.#takeCapture(bytes, end)
  }

  #continueNumber(bytes: Buffer, start: number): number {
    let at = start
    let state = this.#number
    while (at < bytes.length) {
      const next = numberSteps[(state << 8) | bytes[at]!]!
      if (next === 0) {
        if (numberMayEnd[state] === 0) this.#unexpected(at)
        this.#endValue(bytes, at)
        return at
      }
      state = next
      at++
    }
    this.#number = state
    return at
  }

  #startCapture(at: number, isPlace = false): void {
    this.#capturing = true
    this.#placing = isPlace
    this.#captureStart = this.#position + at
    this.#runStart = at
  }

  #takeCapture(bytes: Buffer, end: number): string {
    this.#capturing = false
    if (this.#placing) return ''
    const text = this.#buffer.take(bytes, this.#runStart, end) ?? this.#tooLong(end)
    this.#captured += text.length
    return text
  }

  #keep(bytes: Buffer, end: number): void {
    if (this.#placing) return
    if (!this.#buffer.add(bytes, this.#runStart, end)) this.#tooLong(end)
  }

  #tooLong(at: number): never {
    this.#fail('too-large', `holds one text of more than ${this.#buffer.limit} bytes`, at)
  }

  #unexpected(at: number): never {
    this.#fail('not-json', 'is not JSON', at)
  }

  #fail(code: StateErrorCode, problem: string, at: number): never {
    throw new StateError(code, `${this.#subject} ${problem}`, this.#position + at)
  }
}
