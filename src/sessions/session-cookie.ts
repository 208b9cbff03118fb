import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../core/errors.ts'
import { isLoopback } from '../core/loopback.ts'

const NAME = 'purser-session'
const MAX_SECRET_LENGTH = 100

/** Any header that a form of another site cannot send. */
export const OWN_HEADER = 'x-purser-page'

/** What a request needs to have for its cookies to be read. */
export type Asking = { readonly headers: IncomingHttpHeaders; readonly origin: string }

/** The secret of a request's session cookie. */
export function sessionSecretOf(call: Asking): string | undefined {
  return cookieOf(call, NAME, MAX_SECRET_LENGTH)
}

/** The Set-Cookie header of a sign-in. */
export function sessionCookie(origin: string, secret: string, seconds: number): string {
  return setCookie(origin, NAME, secret, seconds, 'Lax')
}

/** The value of a cookie. Over https a neighbouring host can set the plain name, so it does not count. */
export function cookieOf(
  { headers: { cookie }, origin }: Asking,
  name: string,
  maxLength: number,
): string | undefined {
  if (cookie === undefined) return undefined
  const own = nameOver(origin, name)
  for (const pair of cookie.split(';')) {
    const [given, value] = pair.trim().split('=', 2)
    if (given === own && value !== undefined && value !== '' && value.length <= maxLength) return value
  }
  return undefined
}

/** A Set-Cookie header for a cookie that no script can read. */
export function setCookie(
  origin: string,
  name: string,
  value: string,
  seconds: number,
  sameSite: 'Lax' | 'Strict',
): string {
  const attributes = `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}`
  return `${nameOver(origin, name)}=${value}; ${attributes}${isSecure(origin) ? '; Secure' : ''}`
}

/** Browsers accept `__Host-` only over https, without a domain. On http only a browser of the same machine may sign in. */
function nameOver(origin: string, name: string): string {
  return isSecure(origin) ? `__Host-${name}` : name
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
