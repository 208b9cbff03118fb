import { existing } from '../core/existing.ts'
import { alphabet, type Id } from '../core/ids.ts'
import { MAX_OUTPUTS } from '../state-file/outputs-collector.ts'

/** Length of the part that the ids of all outputs of one state version share, in base58 characters. */
export const OUTPUT_KEY_LENGTH = 11

const PLACES = 5
const SPACE = 58 ** PLACES
/** Multiplying by SCATTER modulo SPACE spreads positions over all of SPACE; multiplying by GATHER reverses it. */
const SCATTER = 9_700_247
const GATHER = 331_364_103n

/**
 * The id of the output at `position` of the state version with this key. It is computed, not stored: `parseOutputId`
 * recovers the key and the position from it.
 */
export function outputId(outputKey: string, position: number): Id<'output'> {
  let left = (position * SCATTER + shift(outputKey)) % SPACE
  let text = ''
  for (let place = 0; place < PLACES; place++) {
    text = existing(alphabet[left % 58]) + text
    left = Math.floor(left / 58)
  }
  return `wsout-${outputKey}${text}`
}

/** The key and position in an id. Undefined if no output can have this id. */
export function parseOutputId(id: string): { outputKey: string; position: number } | undefined {
  if (!/^wsout-[1-9A-HJ-NP-Za-km-z]{16}$/.test(id)) return undefined
  const outputKey = id.slice(6, 6 + OUTPUT_KEY_LENGTH)
  let number = 0
  for (const character of id.slice(6 + OUTPUT_KEY_LENGTH)) number = number * 58 + alphabet.indexOf(character)
  const scattered = BigInt(number - shift(outputKey) + SPACE) % BigInt(SPACE)
  const position = Number((scattered * GATHER) % BigInt(SPACE))
  return position < MAX_OUTPUTS ? { outputKey, position } : undefined
}

/** An offset for each state version, so that the ids of first outputs do not all end alike. */
function shift(outputKey: string): number {
  let sum = 0
  for (const character of outputKey) sum = (sum * 58 + alphabet.indexOf(character)) % SPACE
  return sum
}
