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
