/** What `sslmode` may be. The driver takes any other value as TLS that is verified. */
export const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** Whether a part of the password may stand where the host, the port or the name is expected. */
export function mayShowPassword(text: string): boolean {
  const [, behind = ''] = /^[a-z]+:\/\/(.*)$/s.exec(text) ?? []
  return behind.includes('#') || /[/?].*@/s.test(behind)
}

export function parseDatabaseUrl(text: string): URL | null {
  // A URL for a Unix socket may have no host.
  return URL.parse(text) ?? URL.parse(text.replace('@/', '@localhost/'))
}

/** Host, port and name of the database. Never the user, the password or a parameter. */
export function placeOfDatabase(text: string): string {
  const url = mayShowPassword(text) ? null : parseDatabaseUrl(text)
  if (url === null) return 'PostgreSQL'
  const host = url.searchParams.get('host') ?? url.hostname
  const port = url.searchParams.get('port') ?? url.port
  const name = url.pathname.slice(1)
  const shownHost = /^(\[[0-9a-f:.]+\]|[\w.%-]+)$/i.test(host) ? host : ''
  const shownPort = /^\d+$/.test(port) ? `:${port}` : ''
  const shownName = /^[\w.~%+-]*$/.test(name) ? name : ''
  return `postgres://${shownHost}${shownPort}/${shownName}`
}

/**
 * The URL for the driver. It verifies the server in these three modes as in `verify-full`, but prints a warning of several
 * lines about that.
 */
export function urlForDriver(text: string): string {
  if (/[?&]uselibpqcompat=/.test(text)) return text
  return text.replaceAll(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/g, '$1verify-full')
}
