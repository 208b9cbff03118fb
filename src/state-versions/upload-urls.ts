import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { ContentKind } from '../state-content/state-chunk-store.ts'

/** How long an upload URL is valid after the version's creation. */
export const UPLOAD_URL_HOURS = 24

/** A separate key, so that a signature reveals nothing about data sealed with the secret key. */
function signingKey(secretKey: Uint8Array): Buffer {
  let key = signingKeys.get(secretKey)
  if (key === undefined) {
    key = Buffer.from(hkdfSync('sha256', secretKey, '', 'purser upload urls', 32))
    signingKeys.set(secretKey, key)
  }
  return key
}

/** Cached, because deriving a key takes longer than the rest of a request. */
const signingKeys = new WeakMap<Uint8Array, Buffer>()

/** The signature is the right to upload: a caller with the URL needs no token. */
function uploadSignature(secretKey: Uint8Array, stateVersionId: string, kind: ContentKind): string {
  return createHmac('sha256', signingKey(secretKey)).update(`${kind} ${stateVersionId}`).digest('base64url')
}

export function isUploadSignature(
  secretKey: Uint8Array,
  stateVersionId: string,
  kind: ContentKind,
  given: string,
): boolean {
  const expected = Buffer.from(uploadSignature(secretKey, stateVersionId, kind))
  const actual = Buffer.from(given)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

export function uploadPath(secretKey: Uint8Array, stateVersionId: string, kind: ContentKind): string {
  return `/uploads/${uploadSignature(secretKey, stateVersionId, kind)}/state-versions/${stateVersionId}/${kind}`
}

export function hasExpired(createdAt: string, now: Date): boolean {
  return now.getTime() - Date.parse(createdAt) > UPLOAD_URL_HOURS * 3_600_000
}
