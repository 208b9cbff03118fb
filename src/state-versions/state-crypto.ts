import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/**
 * How states and outputs are stored. Each state version has its own data key. Every piece is compressed (zstd) and
 * sealed with that key (AES-256-GCM). The server's secret key wraps the data key. So a rotation of the secret key
 * rewraps only small keys, and deleting a data key makes the content unreadable for ever.
 */
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FINGERPRINT_BYTES = 8

/** First byte of a piece: whether more pieces follow. */
const MORE = 1
const LAST = 2
/** First byte of a wrapped key: the version of its layout. */
const WRAPPED = 1

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** A piece or key cannot be opened: it is altered, in the wrong place, or sealed with another key. */
export class SealError extends Error {}

/** For a large output the kind includes its position. */
type PieceKind = 'state' | 'json-state' | 'json-state-outputs' | 'outputs' | `output ${number}`

/**
 * Identifies a piece. It is authenticated with the piece, so a piece cannot replace another one, nor the same piece of
 * another upload of the version. `uploadId` is null for outputs, because a version has only one set of them.
 */
export type PieceAddress = {
  stateVersionId: string
  kind: PieceKind
  uploadId: string | null
  number: number
}

/** Identifies a secret key without revealing it: 16 hexadecimal digits. */
export function secretKeyFingerprint(secretKey: Uint8Array): string {
  const digest = createHmac('sha256', secretKey).update('purser secret key fingerprint').digest()
  return digest.toString('hex', 0, FINGERPRINT_BYTES)
}

export function newDataKey(): Uint8Array {
  return randomBytes(KEY_BYTES)
}

/** Layout: version, fingerprint of the secret key, nonce, encrypted data key, tag. */
export function wrapDataKey(secretKey: Uint8Array, stateVersionId: string, dataKey: Uint8Array): Uint8Array {
  const head = Buffer.concat([
    Uint8Array.of(WRAPPED),
    Buffer.from(secretKeyFingerprint(secretKey), 'hex'),
    randomBytes(NONCE_BYTES),
  ])
  return Buffer.concat([head, ...encrypt(secretKey, head, stateVersionId, dataKey)])
}

/** Throws SealError; if another secret key wrapped the data key, the message has both fingerprints. */
export function unwrapDataKey(
  secretKey: Uint8Array,
  stateVersionId: string,
  wrapped: Uint8Array,
): Uint8Array {
  const [theirs, ours] = [wrappedKeyFingerprint(wrapped), secretKeyFingerprint(secretKey)]
  if (theirs !== ours) {
    throw new SealError(`Encrypted with the secret key of fingerprint ${theirs}; this one's is ${ours}`)
  }
  return decrypt(secretKey, wrapped, 1 + FINGERPRINT_BYTES + NONCE_BYTES, stateVersionId)
}

/** The fingerprint of the secret key that wrapped a data key. */
export function wrappedKeyFingerprint(wrapped: Uint8Array): string {
  if (wrapped[0] !== WRAPPED) throw new SealError('Not a wrapped key')
  return Buffer.from(wrapped.subarray(1, 1 + FINGERPRINT_BYTES)).toString('hex')
}

/**
 * Compresses and encrypts a piece of content. Layout: first byte (last or not), nonce, encrypted text, tag. The result
 * owns its memory, so it can be transferred between threads.
 */
export function sealPiece(
  dataKey: Uint8Array,
  address: PieceAddress,
  isLast: boolean,
  plain: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const head = Buffer.concat([Uint8Array.of(isLast ? LAST : MORE), randomBytes(NONCE_BYTES)])
  const parts = [head, ...encrypt(dataKey, head, addressText(address), zstdCompressSync(plain, compression))]
  const sealed = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    sealed.set(part, at)
    at += part.length
  }
  return sealed
}

/** Throws SealError if the piece is incomplete, at another address, or sealed with another key. */
export function openPiece(
  dataKey: Uint8Array,
  address: PieceAddress,
  sealed: Uint8Array,
): { plain: Uint8Array; isLast: boolean } {
  const compressed = decrypt(dataKey, sealed, 1 + NONCE_BYTES, addressText(address))
  return { plain: zstdDecompressSync(compressed), isLast: sealed[0] === LAST }
}

/**
 * Decrypts sealed chunks that arrive in order. Throws SealError if one is missing, altered or extra. Each yielded chunk
 * is genuine, but the content is complete only after the generator has ended.
 */
export async function* openPieces(
  dataKey: Uint8Array,
  content: Omit<PieceAddress, 'number'>,
  sealed: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let number = 0
  let hasEnded = false
  for await (const bytes of sealed) {
    if (hasEnded) throw new SealError('There is more after the last chunk')
    const { plain, isLast } = openPiece(dataKey, { ...content, number }, bytes)
    hasEnded = isLast
    number++
    yield plain
  }
  if (!hasEnded) throw new SealError('The last chunk is missing')
}

function addressText({ kind, stateVersionId, number, uploadId }: PieceAddress): string {
  const text = `${kind}\n${stateVersionId}\n${number}`
  return uploadId === null ? text : `${text}\n${uploadId}`
}

/** `head` ends with the nonce. The tag covers `head` and `address`. Returns the encrypted text and the tag. */
function encrypt(key: Uint8Array, head: Uint8Array, address: string, plain: Uint8Array): Buffer[] {
  const cipher = createCipheriv(ALGORITHM, key, head.subarray(head.length - NONCE_BYTES))
  cipher.setAAD(Buffer.concat([head, Buffer.from(address)]))
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()]
}

function decrypt(key: Uint8Array, sealed: Uint8Array, headLength: number, address: string): Uint8Array {
  const head = sealed.subarray(0, headLength)
  const tagStart = sealed.length - TAG_BYTES
  if (tagStart < headLength) throw new SealError('Too short to be sealed')
  const decipher = createDecipheriv(ALGORITHM, key, head.subarray(headLength - NONCE_BYTES))
  decipher.setAAD(Buffer.concat([head, Buffer.from(address)])).setAuthTag(sealed.subarray(tagStart))
  const plain = decipher.update(sealed.subarray(headLength, tagStart))
  try {
    return Buffer.concat([plain, decipher.final()])
  } catch {
    throw new SealError('Altered, put in another place, or sealed with another key')
  }
}
