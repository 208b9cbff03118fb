import { canonicalAddress } from '../core/ip-address.ts'
import type { ServerConfig } from '../config.ts'
import { networkOf } from '../core/networks.ts'
import type { Call } from '../http/call.ts'

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

/** For a read of a caller whom nobody knows yet. Those of one network take turns: see TransactionOptions. */
export function strangerOf(...given: Parameters<typeof addressOf>): { readonly account: string } {
  return { account: `address ${clientAddressOf(...given)}` }
}
