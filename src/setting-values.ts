import { resolve } from 'node:path'
import { mayShowPassword, parseDatabaseUrl, SSL_MODES } from './core/database-url.ts'
import { existing } from './core/existing.ts'
import { OperatorError } from './core/operator-error.ts'

/** A problem with a setting, reported to the person who starts the server. */
export class SettingError extends OperatorError {}

export function oneOf<const V extends string>(...values: V[]) {
  return (value: string): V => {
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) throw new SettingError(`must be one of ${values.join(', ')}`)
    return found
  }
}

export function integer(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new SettingError(`must be a whole number from ${least} to ${most}`)
    }
    return number
  }
}

export function flag(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new SettingError('must be true or false')
  return value === 'true'
}

export function listenAddress(value: string): { host: string; port: number } {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(value)
  const port = Number(match?.[2])
  if (match === null || port > 65_535) throw new SettingError('must be HOST:PORT, for example 127.0.0.1:4567')
  return { host: existing(match[1]).replace(/^\[|\]$/g, ''), port }
}

/** An empty flag would name the folder where the command runs: it is most likely an unset variable of a script. */
export function path(value: string): string {
  if (value === '') throw new SettingError('must not be empty')
  return resolve(value)
}

export function databaseUrl(value: string): string {
  if (!/^postgres(ql)?:\/\//.test(value)) throw new SettingError('must begin with postgres://')
  if (mayShowPassword(value)) {
    throw new SettingError(
      'has an @ or a # behind the host; write the characters / ? # @ of a password as %2F %3F %23 %40',
    )
  }
  const [, authority = ''] = /^[^/]+\/\/([^/?#]*)/.exec(value) ?? []
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host.includes(',') || /[?&]host=[^&]*,/.test(value)) {
    throw new SettingError('names several hosts; name one host that is always the primary')
  }
  if (/[?&]target_session_attrs=/.test(value)) {
    throw new SettingError(
      'has target_session_attrs, which is not supported; name a host that is the primary',
    )
  }
  const url = parseDatabaseUrl(value)
  if (url === null) {
    throw new SettingError(
      'is not a URL; write characters such as @ : / ? # % of a password as %40 and so on',
    )
  }
  checkTlsOf(url)
  return value
}

function checkTlsOf({ searchParams }: URL): void {
  if (searchParams.getAll('sslmode').some((mode) => SSL_MODES.every((known) => known !== mode))) {
    throw new SettingError(`has an unknown sslmode; it must be one of ${SSL_MODES.join(', ')}`)
  }
  if (searchParams.getAll('ssl').some((value) => !['true', '1', '0', 'no-verify'].includes(value))) {
    throw new SettingError('has an unknown value of ssl; give sslmode instead')
  }
}

export function publicUrl(value: string): string {
  const url = URL.parse(value)
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.href !== `${url.origin}/`) {
    throw new SettingError(
      'must be a URL with nothing after the host, for example https://purser.example.com',
    )
  }
  return url.origin
}

export function adminToken(value: string): string {
  if (!/^[\x21-\x7e]{16,512}$/.test(value))
    throw new SettingError('must be 16 to 512 visible ASCII characters')
  return value
}

export function secretKey(value: string): Buffer {
  const key = /^[0-9a-fA-F]{64}$/.test(value) ? Buffer.from(value, 'hex') : Buffer.from(value, 'base64')
  if (key.length !== 32) throw new SettingError('must be 32 bytes, as base64 or as 64 hexadecimal digits')
  return key
}

export function release(value: string): string {
  if (!/^\d{6}-\d+$/.test(value)) throw new SettingError('must be a release such as 202408-1')
  return value
}
