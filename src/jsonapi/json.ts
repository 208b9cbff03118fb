import { invalid, type AppError } from '../core/errors.ts'

/** Objects and arrays within each other that a body may have. No resource here needs more than ten. */
export const MAX_BODY_DEPTH = 64
/** Values that a body may hold, all that is ignored among them: parsing more would keep every other request waiting. */
export const MAX_BODY_VALUES = 50_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Throws 422 for bytes that are not UTF-8, not JSON, or too dear to parse. */
export function parseJson(bytes: Uint8Array): unknown {
  checkShape(bytes)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw notJson(bytes)
  }
}

export function notJson(bytes: Uint8Array): AppError {
  return invalid(bytes.length === 0 ? 'the body is missing' : 'the body is not JSON in UTF-8', '')
}

/**
 * Looks through JSON text for what would make parsing it dear, in one pass that takes no memory; throws 422 for that. Whether
 * it is JSON at all is the parser's business: up to the first error the two read the same.
 */
function checkShape(bytes: Uint8Array): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
        break
      case 0x5b /* [ */:
      case 0x7b /* { */:
        values++
        if (++depth > MAX_BODY_DEPTH) throw invalid(`the body is nested deeper than ${MAX_BODY_DEPTH}`, '')
        break
      case 0x5d /* ] */:
      case 0x7d /* } */:
        depth--
        break
      case 0x2c /* , */:
        values++
    }
  }
  if (values > MAX_BODY_VALUES) throw invalid(`the body holds more than ${MAX_BODY_VALUES} values`, '')
}
