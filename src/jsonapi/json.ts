import { invalid, type AppError } from '../core/errors.ts'

/** Maximum nesting of objects and arrays in a body. No resource here needs more than ten. */
export const MAX_BODY_DEPTH = 64
/** Maximum of values in a body, including ignored ones: parsing more would block other requests. */
const MAX_BODY_VALUES = 50_000

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Throws 422 for bytes that are not UTF-8, not JSON, or too expensive to parse. */
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
 * Throws 422 for JSON that is too expensive to parse, in one pass without memory. It does not validate: the parser does
 * that, and both read a document alike up to its first error.
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
