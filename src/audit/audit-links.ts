import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import type { AuditRow } from './audit-chain-store.ts'

/**
 * How audit events hang together. The link of an event is an HMAC over all of its columns and the link before it. Half of
 * it stands in the event's row; the whole only in the chain's record, while the event is the newest. So whoever can write
 * into the database and has no secret key can neither alter nor insert an event, nor cut the chain off anywhere: the next
 * link needs the whole one before it.
 */
export class AuditKey {
  readonly starts: KeyObject
  readonly #inner: string
  readonly #outer: Uint8Array

  /** With keys of their own, so that a link says nothing about what the secret key seals. */
  constructor(secretKey: Uint8Array) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32))
    this.starts = createSecretKey(derive('purser audit starts'))
    // As ASCII it is as long as a block of the hash, and so it still is after what HMAC does to it.
    const key = Buffer.from(derive('purser audit links').toString('hex'))
    this.#inner = key.map((byte) => byte ^ 0x36).toString()
    this.#outer = Buffer.concat([key.map((byte) => byte ^ 0x5c), Buffer.alloc(LINK_BYTES)])
  }

  /** HMAC-SHA-256. Every write makes one, and an object of createHmac takes four times as long as two hashes. */
  hmac(text: string): Uint8Array {
    this.#outer.set(hash('sha256', this.#inner + text, 'buffer'), BLOCK_BYTES)
    return hash('sha256', this.#outer, 'buffer')
  }
}

const BLOCK_BYTES = 64
const LINK_BYTES = 32
const MAC_BYTES = 16

/** An event without its half of the link. */
export type UnlinkedRow = Omit<AuditRow, 'mac'>

/** What a chain goes on from, since older events were deleted. */
export type AuditStart = {
  readonly position: number
  readonly link: Uint8Array
  /** Events up to this position were there before they were chained. */
  readonly adopted: number
  /** Of the whole site's chain: how many chains there are. */
  readonly chains: number
}

export function macOf(link: Uint8Array): Uint8Array {
  return link.subarray(0, MAC_BYTES)
}

/** What the first event of a chain hangs on. */
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

/** With its length, so that nothing can move from one column into the next. */
function part(value: string | null): string {
  return value === null ? '-' : `${value.length}:${value}`
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Sealed, since an attacker who knew the link could make the chain go on from there once more. */
export function sealStart(
  key: AuditKey,
  organizationId: string,
  { position, link, adopted, chains }: AuditStart,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key.starts, nonce).setAAD(Buffer.from(organizationId))
  const text = JSON.stringify([position, Buffer.from(link).toString('base64'), adopted, chains])
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Undefined for what was not sealed by sealStart for this chain. */
export function openStart(key: AuditKey, organizationId: string, sealed: Uint8Array): AuditStart | undefined {
  // SQLite keeps a text in any column.
  if (!(sealed instanceof Uint8Array) || sealed.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key.starts, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(organizationId)).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    const text =
      decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    const [position, link, adopted, chains] = JSON.parse(text) as [number, string, number, number]
    return { position, link: Buffer.from(link, 'base64'), adopted, chains }
  } catch {
    return undefined
  }
}

/** Whether the event's half of its link is what it should be. */
export function isLinked(row: AuditRow, link: Uint8Array): boolean {
  return row.mac instanceof Uint8Array && Buffer.compare(row.mac, macOf(link)) === 0
}
