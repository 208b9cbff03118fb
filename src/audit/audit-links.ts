import { parseStored } from '../core/stored-json.ts'
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import type { AuditRow } from './audit-chain-store.ts'

/**
 * How audit events are chained. The link of an event is an HMAC over all its columns and the previous link. The event's
 * row has only half of its link. The whole link is in the chain's row, and only while the event is the newest. So an
 * attacker who can write to the database but lacks the secret key cannot alter, insert or cut off events: the next link
 * needs the whole previous one.
 */
export class AuditKey {
  readonly starts: KeyObject
  readonly #links: KeyObject

  /** Derives separate keys, so that a link reveals nothing about data sealed with the secret key. */
  constructor(secretKey: Uint8Array) {
    const derive = (purpose: string) =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32)))
    this.starts = derive('purser audit starts')
    this.#links = derive('purser audit links')
  }

  /** The key is a KeyObject: with bytes, createHmac takes eight times as long, and every write needs this. */
  hmac(text: string): Uint8Array {
    return createHmac('sha256', this.#links).update(text).digest()
  }
}

const MAC_BYTES = 16

/** An event without its half of the link. */
export type UnlinkedRow = Omit<AuditRow, 'mac'>

/** The state from which a chain continues after its older events were deleted. */
type AuditStart = {
  readonly position: number
  readonly link: Uint8Array
  /** Only in the site's chain: the number of chains. */
  readonly chains: number
}

export function macOf(link: Uint8Array): Uint8Array {
  return link.subarray(0, MAC_BYTES)
}

/** The link before the first event of a chain. */
export function firstLink(key: AuditKey, organizationId: string): Uint8Array {
  return key.hmac(`chain ${organizationId}`)
}

export function linkOf(key: AuditKey, before: Uint8Array, row: UnlinkedRow): Uint8Array {
  const text =
    `event ${row.number} ${row.position} ` +
    part(row.at) +
    part(row.request_id) +
    part(row.actor_kind) +
    part(row.actor_id) +
    part(row.actor_name) +
    part(row.token_id) +
    part(row.action) +
    part(row.organization_id) +
    part(row.resource_type) +
    part(row.resource_id) +
    part(row.details)
  return key.hmac(text + Buffer.from(before).toString('hex'))
}

/** Prefixed with its length, so that text cannot move from one column into the next. */
function part(value: string | null): string {
  return value === null ? '-' : `${value.length}:${value}`
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypted, because an attacker who knew the link could continue the chain differently. */
export function sealStart(
  key: AuditKey,
  organizationId: string,
  { position, link, chains }: AuditStart,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.starts, nonce).setAAD(Buffer.from(organizationId))
  const text = JSON.stringify([position, Buffer.from(link).toString('base64'), chains])
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Undefined if it was not sealed by sealStart for this chain. */
export function openStart(key: AuditKey, organizationId: string, sealed: Uint8Array): AuditStart | undefined {
  // SQLite can store text in any column.
  if (!(sealed instanceof Uint8Array) || sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key.starts, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(organizationId)).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const text =
      decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    const [position, link, chains] = parseStored<[number, string, number]>(text)
    return { position, link: Buffer.from(link, 'base64'), chains }
  } catch {
    return undefined
  }
}

/** Whether the event's stored half matches the link. */
export function isLinked(row: AuditRow, link: Uint8Array): boolean {
  return row.mac instanceof Uint8Array && Buffer.compare(row.mac, macOf(link)) === 0
}
