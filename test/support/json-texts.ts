import * as fc from 'fast-check'

/** JSON text as tokens. Joined, they are the raw text. Whitespace may be inserted between any two. */
export type Tokens = string[]

const escapes = ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t']
const unicodeEscapes = [
  '\\u0000',
  '\\u000a',
  '\\u0041',
  '\\u00E9',
  '\\ud800',
  '\\uDFFF',
  '\\uD83D\\uDE00',
  '\\u2028',
]
const plain = [
  'a',
  'Z',
  '0',
  ' ',
  '/',
  "'",
  '{',
  ']',
  ',',
  ':',
  '\u007f',
  'é',
  '\u2028',
  '\ufeff',
  '😀',
  '\uffff',
]

/** The raw text of a string, with quotes. */
export const stringText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...plain) },
      { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }).map(withoutSpecials) },
      { weight: 1, arbitrary: fc.constantFrom(...escapes, ...unicodeEscapes) },
    ),
    { maxLength: 12 },
  )
  .map((parts) => `"${parts.join('')}"`)

/** Removes characters that need an escape or cannot be UTF-8. */
function withoutSpecials(text: string): string {
  return text.replaceAll(/["\\\p{Cc}]/gu, '').toWellFormed()
}

export const numberText = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?([eE][+-]?\d{1,4})?$/),
  fc.constantFrom('-0', '0.10', '1e400', '-1E-400', '123456789012345678901234567890.10', '9007199254740993'),
)

/**
 * Names without a backslash of their own. The JSON.parse of Node 24, which tests compare with, takes a name that begins with
 * an escape for an earlier name of such an object that begins with a backslash: after {"\\":0}, {"\n":0} has the first name.
 */
const names = fc.oneof(
  stringText.map((text) => text.replaceAll(/\\(.)/g, (escape, escaped) => (escaped === '\\' ? '' : escape))),
  fc.constantFrom('"__proto__"', '"constructor"', '"outputs"', '"value"', '"1"'),
)

function separated(items: Tokens[]): Tokens {
  return items.flatMap((item, index) => (index === 0 ? item : [',', ...item]))
}

/** The tokens of any JSON value. Member names may repeat. */
export const valueTokens: fc.Arbitrary<Tokens> = fc.letrec<{ value: Tokens }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
    stringText.map((text) => [text]),
    numberText.map((text) => [text]),
    fc.constantFrom<Tokens>(['true'], ['false'], ['null']),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => ['[', ...separated(items), ']']),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }).map((members) => objectTokens(members)),
  ),
})).value

export function objectTokens(members: [name: string, value: Tokens][]): Tokens {
  return ['{', ...separated(members.map(([name, value]) => [name, ':', ...value])), '}']
}

export const whitespace = fc.constantFrom('', '', ' ', '\n', '\t', '\r\n', '\n        ', ' \t\r\n ')

/** Inserts whitespace around the tokens, cycling through `spaces`. */
export function spaced(tokens: Tokens, spaces: string[]): string {
  const space = (index: number) => spaces[index % spaces.length] ?? ''
  return tokens.map((token, index) => space(index) + token).join('') + space(tokens.length)
}

/** Sizes of the chunks that a file is cut into. */
export const cuts = fc.oneof(
  fc.constant<number[]>([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
  fc.constant<number[]>([1_000_000]),
)

export function cut(bytes: Uint8Array, sizes: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let start = 0; start < bytes.length;) {
    const size = sizes[chunks.length % sizes.length] as number
    chunks.push(bytes.subarray(start, start + size))
    start += size
  }
  return chunks
}
