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
