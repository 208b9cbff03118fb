import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ServerConfig } from '../config.ts'
import { AppError, badRequest } from '../core/errors.ts'
import type { Held } from '../core/bytes-in-flight.ts'
import type { Call } from './call.ts'
import type { Deps } from './deps.ts'
import { Pace } from './pace.ts'

const MAX_SMALL_BODY_BYTES = 1024 * 1024
/** For requests that need no token. Their bodies have few short members, so parsing them is cheap. */
const MAX_OPEN_BODY_BYTES = 8 * 1024
/** Requests without a token share the memory that one caller may hold. */
const NOBODY = 'nobody'
const LARGE_BODY_ADVICE = '; leave `state` out and upload it to hosted-state-upload-url instead'
/** A large body counts twice: for its bytes, and for the parsed values. */
const LARGE_BODY_WEIGHT = 2
const LEAST_BUFFER_BYTES = 16 * 1024
const MAX_SHORT_BODY_BYTES = 16 * 1024

/** Throws 413 before reading if the declared length is too large. */
export function checkDeclaredLength(headers: IncomingHttpHeaders, limitBytes: number, advice = ''): void {
  if (declaredLength(headers) > limitBytes) throw tooLarge(limitBytes, advice)
}

/** `large`: with a state in it. `open`: of a request that needs no token. */
type BodySize = 'large' | 'small' | 'open'

/** A request's body on its way into memory, within its own limit and the budget of all bytes in flight. */
export class IncomingBody {
  readonly #call: Call
  readonly #deps: Deps
  readonly #size: BodySize
  #held: Held | undefined
  #reading: Promise<Buffer> | undefined

  constructor(call: Call, size: BodySize, deps: Deps) {
    this.#call = call
    this.#deps = deps
    this.#size = size
  }

  checkDeclaredLength(): void {
    checkDeclaredLength(this.#call.headers, this.#limitBytes, this.#advice)
  }

  /** Whether the body is known to be so short that reading it costs next to nothing. */
  get isShort(): boolean {
    const declared = declaredLength(this.#call.headers)
    return declared > 0 && declared <= MAX_SHORT_BODY_BYTES
  }

  /** Returns the whole body, up to its limit; a second call returns the same bytes. Throws 408, 413 and 503. */
  read(holders: readonly string[]): Promise<Buffer> {
    return (this.#reading ??= this.#readAll(holders))
  }

  async #readAll(holders: readonly string[]): Promise<Buffer> {
    const { stream, headers } = this.#call
    const limit = this.#limitBytes
    // A stranger holds only what has arrived.
    const declared = this.#size === 'open' ? 0 : declaredLength(headers)
    const weight = this.#size === 'large' ? LARGE_BODY_WEIGHT : 1
    const held = this.#deps.bytesInFlight.take(weight * declared, holders)
    this.#held = held
    let whole: Buffer = Buffer.alloc(0)
    let size = 0
    await readChunks(stream, this.#deps.config, (chunk) => {
      const end = size + chunk.length
      if (end > limit) throw tooLarge(limit, this.#advice)
      if (size === 0) {
        whole = chunk
        if (declared === 0) held.resize(weight * end)
      } else {
        if (end > whole.length) {
          const length = declared || Math.min(limit, Math.max(2 * end, LEAST_BUFFER_BYTES))
          held.resize(weight * length)
          const longer = Buffer.allocUnsafeSlow(length)
          whole.copy(longer)
          whole = longer
        }
        // Copied into one buffer, because a list of tiny chunks takes a hundred times their size.
        chunk.copy(whole, size)
      }
      size = end
    })
    return whole.subarray(0, size)
  }

  release(): void {
    this.#held?.release()
  }

  get #limitBytes(): number {
    if (this.#size === 'large') return this.#deps.config.maxBodyBytes
    return this.#size === 'open' ? MAX_OPEN_BODY_BYTES : MAX_SMALL_BODY_BYTES
  }

  get #advice(): string {
    return this.#size === 'large' ? LARGE_BODY_ADVICE : ''
  }
}

/** Reads the body of a request that needs no token, and passes it to `use`. Throws 408, 413 and 503. */
export async function withOpenBody<T>(call: Call, deps: Deps, use: (bytes: Buffer) => T): Promise<T> {
  const incoming = new IncomingBody(call, 'open', deps)
  try {
    incoming.checkDeclaredLength()
    return use(await incoming.read([NOBODY]))
  } finally {
    incoming.release()
  }
}

/**
 * Passes each chunk of a body to `take` and waits for it before the next one. Throws 408 if the sender is too slow, 400
 * if it breaks off, and the errors of `take`. The connection stays open, so that the error can be answered.
 */
export function readChunks(
  stream: IncomingMessage,
  { uploadIdleSeconds }: Pick<ServerConfig, 'uploadIdleSeconds'>,
  take: (chunk: Buffer) => Promise<void> | void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let pace: Pace | undefined
    let isStopped = false
    const stop = () => {
      isStopped = true
      pace?.stop()
      stream.off('data', got).off('end', finish).off('close', breakOff)
    }
    const finish = () => {
      stop()
      resolve()
    }
    const fail = (error: unknown) => {
      stop()
      stream.pause()
      reject(error)
    }
    const breakOff = () => fail(badRequest('the connection ended before the whole body arrived'))
    const goOn = () => {
      if (isStopped) return
      pace?.goOn()
      stream.resume()
    }
    const got = (chunk: Buffer) => {
      pace?.got(chunk.length)
      try {
        const taken = take(chunk)
        if (taken === undefined) return
        stream.pause()
        pace?.hold()
        taken.then(goOn, fail)
      } catch (error) {
        fail(error)
      }
    }
    if (stream.readableEnded) return resolve()
    if (stream.destroyed) return breakOff()
    // Most bodies are complete by now and need no timer.
    if (!stream.complete) pace = new Pace(uploadIdleSeconds * 1000, fail)
    stream.on('data', got).on('end', finish).on('close', breakOff)
  })
}

/** Throws 415 unless the body is JSON. A missing content type is accepted, because go-tfe v2 sends none with DELETE. */
export function checkContentType(headers: IncomingHttpHeaders): void {
  const { 'content-type': given, 'content-encoding': coding = 'identity' } = headers
  if (coding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported-media-type', 'send the body without Content-Encoding')
  }
  if (given === undefined) return
  const mediaType = given.split(';', 1)[0]?.trim().toLowerCase()
  if (mediaType !== 'application/vnd.api+json' && mediaType !== 'application/json') {
    throw new AppError('unsupported-media-type', 'send application/vnd.api+json or application/json')
  }
}

function declaredLength(headers: IncomingHttpHeaders): number {
  return Number(headers['content-length'] ?? 0)
}

function tooLarge(limitBytes: number, advice: string): AppError {
  return new AppError('too-large', `the body may have at most ${limitBytes} bytes${advice}`)
}
