const GROUPS = 8
const GROUPS_OF_NETWORK = 4
/** A customer may have 48 or 56 bits of an IPv6 address: very many of the networks with 64. */
const LAST_BYTE = 0xff

/** What addresses are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, because one customer has all of them. */
export function networkOf(address: string): string {
  // An IPv4 address, also one that is written as IPv6.
  if (address.includes('.')) return address.slice(address.lastIndexOf(':') + 1)
  const [before = '', after] = address.split('%', 1).join('').split('::')
  const head = groupsOf(before)
  const tail = groupsOf(after ?? '')
  const zeros = Array.from({ length: Math.max(0, GROUPS - head.length - tail.length) }, () => 0)
  const all = after === undefined ? head : [...head, ...zeros, ...tail]
  return textOf(all.slice(0, GROUPS_OF_NETWORK))
}

/** The network, and those around it that may belong to the same customer: /64, /56 and /48. The widest is the last one. */
export function networksAround(network: string): [string, ...string[]] {
  const groups = network.includes('.') ? [] : groupsOf(network)
  const last = groups[GROUPS_OF_NETWORK - 1]
  if (last === undefined) return [network]
  const site = groups.slice(0, GROUPS_OF_NETWORK - 1)
  return [network, `${textOf([...site, last & ~LAST_BYTE])}/56`, `${textOf(site)}/48`]
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function textOf(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':')
}
