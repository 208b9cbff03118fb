import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../core/errors.ts'

/** 413 before a byte is read, where the client declared too much. */
export function checkDeclaredLength(headers: IncomingHttpHeaders, limitBytes: number, advice = ''): void {
  if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes, advice)
}

/** The whole body, within the limit; what is beyond it is not read. */
export function readBytes(stream: Readable, limitBytes: number, advice = ''): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const stop = () => stream.off('data', take).off('end', finish).off('close', breakOff)
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= limitBytes) return
      stop()
      stream.pause()
      reject(tooLarge(limitBytes, advice))
    }
    const finish = () => {
      stop()
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks))
    }
    const breakOff = () => {
      stop()
      reject(new AppError('bad-request', [{ detail: 'the body broke off' }]))
    }
    if (stream.readableEnded) finish()
    else if (stream.destroyed) breakOff()
    else stream.on('data', take).on('end', finish).on('close', breakOff)
  })
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
