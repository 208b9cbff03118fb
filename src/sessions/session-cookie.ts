import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.ts'
import { isLoopback } from '../core/loopback.ts'

/** Browsers accept `__Host-` only over https, without a domain. On http only a browser of the same machine may sign in. */
const SECURE_NAME = '__Host-purser-session'
const PLAIN_NAME = 'purser-session'
const MAX_SECRET_LENGTH = 100

/** Any header that a form of another site cannot send. */
export const OWN_HEADER = 'x-purser-page'

/** The secret of a request's session cookie. Over https a neighbouring host can set the plain name, so it does not count. */
export function sessionSecretOf({
  headers: { cookie },
  origin,
}: {
  readonly headers: IncomingHttpHeaders
  readonly origin: string
}): string | undefined {
  if (cookie === undefined) return undefined
  const own = isSecure(origin) ? SECURE_NAME : PLAIN_NAME
  for (const pair of cookie.split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === own && value !== undefined && value !== '' && value.length <= MAX_SECRET_LENGTH) return value
  }
  return undefined
}

/** The Set-Cookie header of a sign-in. */
export function sessionCookie(origin: string, secret: string, seconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
  if (isSecure(origin)) return `${SECURE_NAME}=${secret}; ${attributes}; Secure`
  return `${PLAIN_NAME}=${secret}; ${attributes}`
}

/** Throws 403 if a password and a cookie would travel in clear. */
export function checkSecure(origin: string): void {
  // The origin comes from the Host header, so it can be any text.
  if (isSecure(origin) || (URL.canParse(origin) && isLoopback(new URL(origin).hostname))) return
  const detail =
    'passwords are accepted over https only; behind a TLS proxy, set PURSER_PUBLIC_URL or PURSER_TRUST_PROXY'
  throw new AppError('forbidden', detail)
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:')
}

/** Whether a request with a cookie was caused by a page of another site or host, such as by a link. */
export function isFromElsewhere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}

/** Whether a request with a cookie comes from this server's own pages. A page of another site may not act for a user. */
export function isFromOwnPage(headers: IncomingHttpHeaders, origin: string): boolean {
  if (headers[OWN_HEADER] === undefined) return false
  const site = headers['sec-fetch-site']
  return site === undefined ? headers.origin === origin : site === 'same-origin'
}
