/**
 * The address of the client is the last member of an event's details. So the MAC covers it also for the release before,
 * which may verify events that this one has written, and search their first members (ADR 0060).
 */
const MEMBER = 'client-address'
const LAST_MEMBER = new RegExp(`,?"${MEMBER}":"([^"\\\\]+)"\\}$`)

/** So many characters at the end of an event's details hold the longest address. */
export const ADDRESS_CHARACTERS = 80

/** The details as the event stores them. */
export function withAddress(details: Record<string, unknown>, address: string | null): string {
  return JSON.stringify(address === null ? details : { ...details, [MEMBER]: address })
}

/**
 * The address in stored details, or in their end, and the details without it. A quote in another member is escaped, so
 * nothing else is taken for the address.
 */
export function splitDetails(stored: string): { address: string | null; details: string } {
  const [last, address = null] = LAST_MEMBER.exec(stored) ?? ['']
  return { address, details: address === null ? stored : `${stored.slice(0, -last.length)}}` }
}

/** How the stored details of an event from this address end. */
export function endOfDetails(address: string): string {
  return `"${MEMBER}":"${address}"}`
}
