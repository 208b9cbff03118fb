import { idPrefixes } from './ids.ts'

const MASK = '***'
const ID = new RegExp(`^(${Object.values(idPrefixes).join('|')})-[1-9A-HJ-NP-Za-km-z]{16}$`)
/** Names, files such as robots.txt, and `~` in addresses of pages. */
const NAME = /^([A-Za-z0-9_ -]{1,90}|[\w-]{0,40}\.[a-z]{1,10}|~)?$/
const tokens = [
  /purser_(user|team|org)_/i,
  // A UUID.
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i,
  // A long run without a word boundary.
  /(?=[a-z]{0,19}\d)[a-z0-9]{20}|[a-z]{32}/i,
  // Random bytes in base64url, which may have a boundary anywhere.
  /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d.*\d)[\w-]{40,}$/,
]
/** The first segment behind it is the signature of an upload. */
const UPLOADS = /^uploads?$/

/**
 * A path without its query, in which `***` stands for each segment that may be a secret: somebody has pasted a token there, or
 * it is a signature. Ids and what has the form of a name stay.
 */
export function maskedPath(path: string): string {
  const [before = ''] = path.split(/[?#]/, 1)
  const segments = before.split('/')
  return segments
    .map((segment, place) => (UPLOADS.test(segments[place - 1] ?? '') ? MASK : maskedSegment(segment)))
    .join('/')
}

/** One segment of a path, as the request has it or decoded. */
export function maskedSegment(segment: string): string {
  const text = decoded(segment)
  const isName = NAME.test(text) && !tokens.some((form) => form.test(text))
  return isName || ID.test(text) ? segment : MASK
}

/** What cannot be decoded is no name. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return '%'
  }
}
