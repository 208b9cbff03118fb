import { crc32 } from 'node:zlib'
import { randomBase58 } from '../core/ids.ts'

const prefixes = { user: 'purser_user_', team: 'purser_team_', organization: 'purser_org_' } as const
type TokenKind = keyof typeof prefixes

const RANDOM_CHARACTERS = 32
const CHECKSUM_CHARACTERS = 7

/**
 * The text of a new token: a prefix for its kind, 32 random base58 characters (187 bits) and a checksum. Scanners use
 * the checksum to recognize a leaked token. The server itself compares only the hash.
 */
export function newTokenText(kind: TokenKind): string {
  const text = prefixes[kind] + randomBase58(RANDOM_CHARACTERS)
  return text + checksum(text)
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(CHECKSUM_CHARACTERS, '0')
}
