import { parseStored } from '../core/stored-json.ts'
import { ownTurn } from '../core/turns.ts'

/** Decode at most this many bytes in a turn of the event loop: a millisecond or two if half of them are white space. */
const SLICE_BYTES = 64 * 1024
/** A JSON escape sequence that is cut off at the end of a slice; its rest is in the next slice. */
const cutEscape = /\\(?:u[0-9a-fA-F]{0,3})?$/

/** Base64 inside a JSON string of any length. It is decoded in pieces, and only on demand. */
export class Base64Content {
  readonly #raw: Buffer

  /** @param raw the bytes between the quotes of the JSON string */
  constructor(raw: Buffer) {
    this.#raw = raw
  }

  /** Upper bound of the decoded size: white space and escapes are counted as if they were data. */
  get mostBytes(): number {
    return Math.ceil((this.#raw.length / 4) * 3)
  }

  async isBase64(): Promise<boolean> {
    try {
      for (const _ of this.#texts()) await ownTurn()
      return true
    } catch (error) {
      if (!(error instanceof NotBase64)) throw error
      return false
    }
  }

  /** Decodes all at once: for short content only. */
  whole(): Buffer {
    return Buffer.concat([...this.#texts()].map((text) => Buffer.from(text, 'base64')))
  }

  /** Decodes a piece in each turn of the event loop, also if the reader waits for none, as for a piece of white space. */
  async *pieces(): AsyncGenerator<Buffer> {
    for (const text of this.#texts()) {
      await ownTurn()
      yield Buffer.from(text, 'base64')
    }
  }

  /** Yields base64 characters in groups of four; only the last text may be shorter. Throws NotBase64. */
  *#texts(): Generator<string> {
    let rest = ''
    let padding = 0
    let escape = ''
    for (let start = 0; start < this.#raw.length; start += SLICE_BYTES) {
      const raw =
        escape + this.#raw.toString('latin1', start, Math.min(start + SLICE_BYTES, this.#raw.length))
      escape = cutEscape.exec(raw.slice(-6))?.[0] ?? ''
      const [, digits = '', equals = ''] =
        /^([A-Za-z0-9+/]*)(=*)$/.exec(meaning(raw.slice(0, raw.length - escape.length))) ?? notBase64()
      if (padding > 0 && digits !== '') notBase64()
      padding += equals.length
      if (padding > 2) notBase64()
      const text = rest + digits
      const whole = text.length - (text.length % 4)
      rest = text.slice(whole)
      yield text.slice(0, whole)
    }
    if (escape !== '') notBase64()
    yield rest
  }
}

class NotBase64 extends Error {}

function notBase64(): never {
  throw new NotBase64()
}

/** Decodes JSON escapes in a part of a string and removes its white space. */
function meaning(raw: string): string {
  if (!raw.includes('\\')) return raw.replaceAll(/ +/g, '')
  try {
    return parseStored<string>(`"${raw}"`).replaceAll(/\s+/g, '')
  } catch {
    return notBase64()
  }
}
