/** A lookup table by byte: 1 for each byte in `bytes`, otherwise 0. */
function byteTable(bytes: Iterable<number>): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of bytes) table[byte] = 1
  return table
}

export const isSpace = byteTable(Buffer.from(' \t\n\r'))
export const isHex = byteTable(Buffer.from('0123456789abcdefABCDEF'))
export const isShortEscape = byteTable(Buffer.from('"\\/bfnrt'))
/** Bytes that need no special treatment in a string. Bytes from 0x80 on are included, because Utf8Check checks them. */
export const isPlain = byteTable([...Buffer.from('"\\'), ...Array(0x20).keys()]).map((special) => 1 - special)

export const FOUR_SPACES = 0x20202020

/** Whether four bytes, read as one integer, are all plain. Reading four at a time halves the time for strings. */
export function arePlain(four: number): boolean {
  const quote = four ^ 0x22222222
  const backslash = four ^ 0x5c5c5c5c
  const found =
    (((quote - 0x01010101) | 0) & ~quote) |
    (((backslash - 0x01010101) | 0) & ~backslash) |
    (((four - FOUR_SPACES) | 0) & ~four)
  return (found & 0x80808080) === 0
}

/** The literals of JSON by their first byte. */
export const wordOf: ReadonlyMap<number, Uint8Array> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
)

/** State machine for numbers, from state 0: `numberSteps[state << 8 | byte]` is the next state, 0 ends the number. */
export const numberSteps = new Uint8Array(9 << 8)
const [SIGN, ZERO, WHOLE, POINT, FRACTION, E, E_SIGN, EXPONENT] = [1, 2, 3, 4, 5, 6, 7, 8] as const
export const numberMayEnd = byteTable([ZERO, WHOLE, FRACTION, EXPONENT])
for (const [from, bytes, to] of [
  [0, '-', SIGN],
  [0, '0', ZERO],
  [0, '123456789', WHOLE],
  [SIGN, '0', ZERO],
  [SIGN, '123456789', WHOLE],
  [WHOLE, '0123456789', WHOLE],
  [ZERO, '.', POINT],
  [WHOLE, '.', POINT],
  [POINT, '0123456789', FRACTION],
  [FRACTION, '0123456789', FRACTION],
  [ZERO, 'eE', E],
  [WHOLE, 'eE', E],
  [FRACTION, 'eE', E],
  [E, '+-', E_SIGN],
  [E, '0123456789', EXPONENT],
  [E_SIGN, '0123456789', EXPONENT],
  [EXPONENT, '0123456789', EXPONENT],
] as const) {
  for (const byte of Buffer.from(bytes)) numberSteps[(from << 8) | byte] = to
}
