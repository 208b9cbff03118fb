import { randomBytes } from 'node:crypto'

/** The platform's prefixes: clients match on them (the tfe provider imports `org/team-<16 base58>`). */
export const idPrefixes = {
  organization: 'org',
  user: 'user',
  membership: 'ou',
  team: 'team',
  token: 'at',
  session: 'ses',
  project: 'prj',
  workspace: 'ws',
  teamWorkspace: 'tws',
  teamProject: 'tprj',
  stateVersion: 'sv',
  output: 'wsout',
  tag: 'tag',
  tagBinding: 'tb',
} as const

/** An id that no row has. Looking it up in place of an unknown id keeps the number of queries the same. */
export const NO_ID = ''

export type IdKind = keyof typeof idPrefixes
export type Id<K extends IdKind> = `${(typeof idPrefixes)[K]}-${string}`

/** Base58, the alphabet of ids. */
export const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const bodyPattern = /^[1-9A-HJ-NP-Za-km-z]{16}$/

/** `length` random base58 characters. Bytes from 232 on are skipped, so that all characters are equally likely. */
export function randomBase58(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < 232 && text.length < length) text += alphabet[byte % 58]
    }
  }
  return text
}

/** A new secret of 43 characters: more than 250 random bits. */
export function newSecret(): string {
  return randomBase58(43)
}

export function newId<K extends IdKind>(kind: K): Id<K> {
  return `${idPrefixes[kind]}-${randomBase58(16)}` as Id<K>
}

function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  const prefix = idPrefixes[kind]
  return text.startsWith(`${prefix}-`) && bodyPattern.test(text.slice(prefix.length + 1))
}

/** Undefined if the text is not an id of this kind; the caller then answers 404. */
export function parseId<K extends IdKind>(kind: K, text: string): Id<K> | undefined {
  return isId(kind, text) ? text : undefined
}

/** The `address` of a place whose path has the object's id in a parameter. */
export function idInPath(kind: IdKind, parameter: string) {
  return ({ params }: { params: Readonly<Record<string, string>> }): { id: string } | undefined => {
    const id = parseId(kind, params[parameter] ?? '')
    return id === undefined ? undefined : { id }
  }
}
