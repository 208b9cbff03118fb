/** Looks into JSON text that is known to be valid and without whitespace between its tokens. */

/** What a string means, from its raw text, quotes included. */
export function decodeString(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
}

/** Just after the string that begins at `start`. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const unit = text.charCodeAt(at)
    if (unit === 0x22 /* " */) return at + 1
    if (unit === 0x5c /* \ */) at++
  }
}

/** Just after the number or word that begins at `start`. */
export function scalarEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && !',]}'.includes(text[at] as string)) at++
  return at
}

/**
 * Orders strings by their UTF-8 bytes, which is by code point, which `<` is not. An unpaired surrogate, which UTF-8
 * cannot say, is ordered as if it could.
 */
export function compareBytes(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [x, y] = [a.codePointAt(at) as number, b.codePointAt(at) as number]
    if (x !== y) return x - y
  }
  return a.length - b.length
}
