import { Buffer } from 'node:buffer'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/schema'
import { OperatorError } from '../core/operator-error.ts'
import { memberOf } from '../core/json-object.ts'
import type { Rows, Value } from './backup-store.ts'

/**
 * A backup is a zstd stream (with checksum) of JSON lines. First comes a header; then, for each table, a line with its
 * name and columns and one line per row; at the end the number of rows. Bytes are base64 in an array of one element.
 * The format is the same for both engines, so a backup of one can be restored into the other.
 */
export const BACKUP_FORMAT = 1

const fields = Type.Object({
  'purser-backup': Type.Integer({ minimum: 1 }),
  version: Type.String(),
  /** The migrations that the database had. */
  migrations: Type.Array(Type.String(), { minItems: 1 }),
  /** Fingerprint of the secret key, which states and outputs need; null if the database had none stored. */
  key: Type.Union([Type.String(), Type.Null()]),
  at: Type.String(),
})
export type Header = Static<typeof fields>
const headerSchema = Compile(fields)

export function compressor() {
  return createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } })
}

export const decompressor = createZstdDecompress

/** The backup as text, in pieces of about a page of rows. */
export async function* toText(header: Header, pages: AsyncIterable<Rows>): AsyncGenerator<string> {
  yield line(header)
  let current: string | undefined
  let count = 0
  for await (const { table, rows } of pages) {
    const columns = Object.keys(rows[0] ?? {})
    if (table !== current) yield line({ table, columns })
    current = table
    count += rows.length
    yield rows.map((row) => line(columns.map((name) => encode(row[name] ?? null)))).join('')
  }
  yield line({ end: { rows: count } })
}

export type Piece =
  | { header: Header }
  | { table: string; columns: string[] }
  | { row: Value[] }
  | { end: { rows: number } }

/** Throws OperatorError if the input is no backup or incomplete. */
export async function* fromText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let isFirst = true
  let hasEnded = false
  for await (const text of lines(chunks)) {
    const value = parseLine(text, isFirst)
    if (isFirst) yield { header: parseHeader(value) }
    else if (Array.isArray(value)) yield { row: value.map(decode) }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the lines of a backup that its checksum protects
    else yield value as { table: string; columns: string[] } | { end: { rows: number } }
    isFirst = false
    hasEnded = typeof value === 'object' && value !== null && 'end' in value
  }
  if (!hasEnded) throw new OperatorError('the backup is incomplete: its end is missing')
}

function parseHeader(value: unknown): Header {
  const format = memberOf(value, 'purser-backup')
  if (typeof format !== 'number') throw new OperatorError('this is not a backup of Purser')
  if (format > BACKUP_FORMAT) {
    const version = memberOf(value, 'version')
    const which = typeof version === 'string' ? ` (${version})` : ''
    throw new OperatorError(`the backup was made by a newer Purser${which}: restore it with that`)
  }
  if (!headerSchema.Check(value))
    throw new OperatorError('this is not a backup of Purser: its header is wrong')
  return value
}

function parseLine(text: string, isFirst: boolean): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new OperatorError(
      isFirst ? 'this is not a backup of Purser' : 'the backup is damaged: a line of it cannot be read',
    )
  }
}

const NEWLINE = 10

async function* lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start)
      if (end === -1) break
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString('utf8')
      parts = []
      start = end + 1
    }
    if (start < chunk.length) parts.push(chunk.subarray(start))
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

export function encode(value: Value): string | number | null | [string] {
  return value instanceof Uint8Array ? [Buffer.from(value).toString('base64')] : value
}

function decode(value: string | number | null | [string]): Value {
  return Array.isArray(value) ? Buffer.from(value[0], 'base64') : value
}
