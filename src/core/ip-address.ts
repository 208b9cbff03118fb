import { isIP, SocketAddress } from 'node:net'

/** One spelling for each address, IPv4 also if it is written as IPv6. Undefined if it is none. */
export function canonicalAddress(text: string): string | undefined {
  const version = isIP(text)
  if (version === 0) return undefined
  if (version === 4) return text
  // The zone of a link-local address means something only to the machine itself.
  const [address = ''] = text.split('%', 1)
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address
  return canonical.replace(/^::ffff:(?=[\d.]+$)/, '')
}
