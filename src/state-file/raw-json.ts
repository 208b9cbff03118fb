import { parseStored } from '../core/stored-json.ts'

/** Helpers for JSON text that is known to be valid and without white space between its tokens. */

/** The value of a string. `raw` includes the quotes. */
export function decodeString(raw: string): string {
  return raw.includes('\\') ? parseStored<string>(raw) : raw.slice(1, -1)
}

/** The position just after the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22 /* " */) return at + 1
    if (unit === 0x5c /* \ */) at++
  }
}

/** The position just after the number or literal that begins at `start`. */
export function scalarEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !',]}'.includes(text.charAt(at))) at++
  return at
}

/**
 * Compares strings by code point, which is the order of their UTF-8 bytes; `<` compares UTF-16 units. An unpaired
 * surrogate has no UTF-8 form and is compared by its own value.
 */
export function compareBytes(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [x = 0, y = 0] = [a.codePointAt(at), b.codePointAt(at)]
    if (x !== y) return x - y
  }
  return a.length - b.length
}
