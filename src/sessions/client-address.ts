import { canonicalAddress } from '../core/ip-address.ts'
import type { ServerConfig } from '../config.ts'
import type { Call } from '../http/call.ts'

const GROUPS = 8
const GROUPS_OF_NETWORK = 4

/** As some proxies write addresses: `192.0.2.1:4321`, `[2001:db8::1]:4321`. */
const WITH_PORT = /^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/

/**
 * Where a request comes from, in the canonical form of the address. Behind a proxy that is trusted, the last address in
 * X-Forwarded-For, which the proxy has added. Undefined if the connection is closed already.
 */
export function addressOf(
  { headers, stream }: Pick<Call, 'headers' | 'stream'>,
  { trustProxy }: Pick<ServerConfig, 'trustProxy'>,
): string | undefined {
  const last = trustProxy ? headers['x-forwarded-for']?.toString().split(',').at(-1)?.trim() : undefined
  const forwarded = last?.replace(WITH_PORT, '$1$2')
  return canonicalAddress(forwarded ?? '') ?? canonicalAddress(stream.socket.remoteAddress ?? '')
}

/** The network of the client, by which guesses are counted. */
export function clientAddressOf(...given: Parameters<typeof addressOf>): string {
  return networkOf(addressOf(...given) ?? '')
}

/** Of an IPv6 address the first 64 bits: one customer has all of them. */
export function networkOf(address: string): string {
  // An IPv4 address, also one that is written as IPv6.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [before = '', after] = address.split('%', 1).join('').split('::')
  const head = groupsOf(before)
  const tail = groupsOf(after ?? '')
  const zeros = Array.from({ length: Math.max(0, GROUPS - head.length - tail.length) }, () => 0)
  const all = after === undefined ? head : [...head, ...zeros, ...tail]
  return all
    .slice(0, GROUPS_OF_NETWORK)
    .map((group) => group.toString(16))
    .join(':')
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
