import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../core/errors.ts'

/** 413 before a byte is read, where the client declared too much. */
export function checkDeclaredLength(headers: IncomingHttpHeaders, limitBytes: number, advice = ''): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes, advice)
}

/** The whole body, within the limit. */
export async function readBytes(stream: Readable, limitBytes: number, advice = ''): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limitBytes) throw tooLarge(limitBytes, advice)
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
}

/** 415 for anything but JSON; clients that send no content type at all (DELETE in go-tfe v2) are let through. */
export function checkContentType(headers: IncomingHttpHeaders): void {
  const given = headers['content-type']
  if (given === undefined) return
  const mediaType = given.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/vnd.api+json' && mediaType !== 'application/json') {
    const detail = 'send application/vnd.api+json or application/json'
    throw new AppError('unsupported-media-type', [{ detail }])
  }
}

function tooLarge(limitBytes: number, advice: string): AppError {
  return new AppError('too-large', [{ detail: `the body may have at most ${limitBytes} bytes${advice}` }])
}
