import { causeOf, codeOf } from '../core/error-fields.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../core/clock.ts'
import { isLoopback } from '../core/loopback.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import { printable, Unreadable } from './records.ts'
import { upTo, type Sink } from './source.ts'

const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
const MAX_REDIRECTS = 5
const MAX_TRIES = 6
const MAX_LOSSES = 3
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 5 * 60_000
/** A connection without any byte for this long is dead. */
const IDLE_MS = 60_000
const DOCUMENT_MS = 5 * 60_000
const CONTENT_MS = 60 * 60_000

type SourceOptions = {
  from: string
  token: string
  /** Allow plain http to another machine. */
  isInsecureAllowed: boolean
  signal: AbortSignal
  /** Waits between attempts. Tests replace it. */
  pause?: (milliseconds: number) => Promise<void>
}

/**
 * Reads from a server that is not trusted. The token is sent only to the origin that the operator named. Answers are
 * limited in size and time.
 */
export class SourceClient {
  /** Origin without a path. */
  readonly origin: string
  readonly #base: string
  readonly #options: SourceOptions
  readonly #pause: (milliseconds: number) => Promise<void>
  /** Consecutive objects for which every connection was cut. */
  #losses = 0

  constructor(options: SourceOptions) {
    const url = sourceUrl(options)
    this.origin = url.origin
    this.#base = url.origin + url.pathname
    this.#options = options
    this.#pause =
      options.pause ?? ((milliseconds) => delay(milliseconds, undefined, { signal: options.signal }))
  }

  /** Reads a JSON document. Throws Unreadable if it is hidden, missing or refused. */
  async document(path: string, query: Record<string, string> = {}): Promise<unknown> {
    const url = new URL(this.#base + path)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    let chunks: Uint8Array[] = []
    const sink = { restart: () => void (chunks = []), write: (chunk: Uint8Array) => void chunks.push(chunk) }
    await this.#read(url, MAX_DOCUMENT_BYTES, DOCUMENT_MS, sink)
    try {
      // Other bytes than UTF-8 would be replaced, and names would be copied that nobody has.
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
    } catch {
      throw new Unreadable(`${path} was answered with something that is not JSON`)
    }
  }

  /** Reads content from an address that the source gave. */
  async content(address: string, limit: number, sink: Sink): Promise<void> {
    const url = URL.parse(address, this.#base)
    if (!isWeb(url)) throw new Unreadable('its address is not a URL')
    await this.#read(url, limit, CONTENT_MS, sink)
  }

  async #read(url: URL, limit: number, longestMs: number, sink: Sink): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.#options.signal.throwIfAborted()
      sink.restart()
      const outcome = await this.#try(url, limit, longestMs, sink)
      if (outcome === undefined) return
      if (tries === MAX_TRIES) this.#giveUp(outcome)
      // At least the usual pause: a second is rounded to 0, and a date is in the past by a clock that is late.
      await this.#pause(Math.max(outcome.waitMs ?? 0, FIRST_PAUSE_MS * 2 ** (tries - 1)))
    }
  }

  /** Throws Unreadable for this object, or OperatorError if the source is gone and everything else would fail too. */
  #giveUp({ reason, status, lost }: Failure): never {
    if (status !== undefined) throw new Unreadable(`${reason}, ${MAX_TRIES} times`)
    if (lost?.origin === this.origin) {
      this.#losses += 1
      if (!lost.isCut || this.#losses === MAX_LOSSES) {
        throw new OperatorError(`${this.origin} cannot be reached: ${reason}`)
      }
    }
    throw new Unreadable(`${lost?.origin} cannot be reached, ${MAX_TRIES} times: ${reason}`)
  }

  /** Returns undefined on success, otherwise a failure that another attempt may fix. */
  async #try(start: URL, limit: number, longestMs: number, sink: Sink): Promise<Failure | undefined> {
    const watch = new Watch(longestMs, this.#options.signal)
    let url = start
    let hasAnswer = false
    try {
      for (let hops = 0; ; hops += 1) {
        const response = await this.#fetch(url, watch.signal)
        watch.alive()
        hasAnswer = true
        const location = response.headers.get('location')
        if (response.status >= 300 && response.status < 400 && location !== null) {
          await response.body?.cancel()
          if (hops === MAX_REDIRECTS) throw new Unreadable('it is redirected too often')
          url = redirected(url, location)
          continue
        }
        if (response.ok) {
          for await (const chunk of upTo(limit, response.body ?? [])) {
            watch.alive()
            sink.write(chunk)
          }
          this.#losses = 0
          return undefined
        }
        await response.body?.cancel()
        return this.#failure(response, url)
      }
    } catch (error) {
      this.#options.signal.throwIfAborted()
      if (error instanceof OperatorError) throw error
      const cause = causeOf(error)
      const isCut = hasAnswer || cause === watch.late || isOfConnection(cause)
      return { reason: printable(reasonOf(cause)), lost: { origin: url.origin, isCut } }
    } finally {
      watch.stop()
    }
  }

  async #fetch(url: URL, signal: AbortSignal): Promise<Response> {
    const isOwn = url.origin === this.origin
    // fetch would refuse this address with an error that prints the password.
    if (url.username !== '' || url.password !== '') {
      throw new Unreadable('it is at an address with a user name or password in it')
    }
    // Other origins only over TLS: the source must not make us read from services inside our network.
    if (!isOwn && url.protocol !== 'https:' && !isLoopbackPair(this.origin, url)) {
      throw new Unreadable(`it is at ${printable(url.origin)}, which is not https`)
    }
    return fetch(url, {
      redirect: 'manual',
      signal,
      headers: {
        'user-agent': `purser/${version}`,
        ...(isOwn
          ? {
              authorization: `Bearer ${this.#options.token}`,
              'content-type': 'application/vnd.api+json',
            }
          : {}),
      },
    })
  }

  /** Failures that may be temporary: too many requests, or a server error. */
  #failure(response: Response, url: URL): Failure {
    const { status } = response
    if (status === 429 || status >= 500) {
      const waitMs = retryAfter(response.headers.get('retry-after'))
      return { status, reason: `it was answered with ${status}`, waitMs }
    }
    if (status === 401 && url.origin === this.origin) {
      throw new OperatorError(`${this.origin} does not accept the token`)
    }
    if (status === 404 || status === 403) throw new Unreadable('it is hidden from this token, or not there')
    throw new Unreadable(`it was answered with ${status}`)
  }
}

/** An error status, or a lost connection to an origin. `isCut`: it was lost after it had been made. */
type Failure = {
  reason: string
  status?: number
  lost?: { origin: string; isCut: boolean }
  waitMs?: number
}

const cut: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_OVERFLOW',
])

/** An error of a connection that was made: it was lost, or what came is not HTTP. */
function isOfConnection(cause: unknown): boolean {
  return cut.has(String(codeOf(cause))) || (cause instanceof Error && cause.name === 'HTTPParserError')
}

/** Aborts a request that takes too long or stays silent for too long. */
class Watch {
  readonly signal: AbortSignal
  /** The reason of the abort. */
  readonly late = new Error('it took too long')
  readonly #controller = new AbortController()
  readonly #idle: NodeJS.Timeout
  readonly #whole: NodeJS.Timeout

  constructor(longestMs: number, outer: AbortSignal) {
    this.signal = AbortSignal.any([this.#controller.signal, outer])
    const late = () => this.#controller.abort(this.late)
    this.#idle = setTimeout(late, IDLE_MS)
    this.#whole = setTimeout(late, longestMs)
  }

  alive(): void {
    this.#idle.refresh()
  }

  stop(): void {
    clearTimeout(this.#idle)
    clearTimeout(this.#whole)
  }
}

function isWeb(url: URL | null): url is URL {
  return url !== null && ['http:', 'https:'].includes(url.protocol)
}

function redirected(from: URL, location: string): URL {
  const url = URL.parse(location, from.href)
  if (!isWeb(url)) {
    throw new Unreadable('it is redirected to something that is not a URL')
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw new Unreadable('it is redirected from https to http')
  }
  return url
}

/** In milliseconds. The header has a number of seconds or a date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const wait = /^\d{1,6}(\.\d+)?$/.test(header)
    ? Number(header) * 1000
    : Date.parse(header) - systemClock.now().getTime()
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_PAUSE_MS)
}

function sourceUrl({ from, token, isInsecureAllowed }: SourceOptions): URL {
  const url = addressOfSource(from)
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !isInsecureAllowed) {
    throw new OperatorError(
      `the token and every state would cross the network in clear to ${url.origin}: use https, or say --insecure-http`,
    )
  }
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw new OperatorError('the token is not valid: it must be 1 to 4096 characters of visible ASCII')
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path === '' ? '/api/v2' : path
  return url
}

/** Parses the address in --from. Throws OperatorError, which never shows a password. */
export function addressOfSource(from: string): URL {
  const url = URL.parse(from)
  if (url !== null && (url.username !== '' || url.password !== '')) {
    throw new OperatorError('--from must not hold a user name or password: give the token by itself')
  }
  if (!isWeb(url) || url.search !== '' || url.hash !== '') {
    throw new OperatorError(
      `--from must be an address such as https://tfe.example.com, not ${printable(from.replace(/\/\/.*@/, '//…@'))}`,
    )
  }
  return url
}

/** A source on this machine may redirect to this machine. */
function isLoopbackPair(origin: string, url: URL): boolean {
  return isLoopback(new URL(origin).hostname) && isLoopback(url.hostname)
}
