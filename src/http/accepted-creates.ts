const MAX_ACCEPTED = 2_000
const MAX_NAME_LENGTH = 300
/** Then the next one decides first again, so that what the database remembers of that read is renewed. */
const MOST_IN_A_ROW = 100

/** What the first decision of a create found. It decides nothing: the transaction of each create decides anew. */
export type Accepted = {
  readonly organizationId: string
  readonly account: string
  /** Who the bytes of the body count for. */
  readonly holders: readonly string[]
}

/** The creates that were accepted lately, by who made them and where. */
export class AcceptedCreates {
  /** The oldest first. */
  readonly #accepted = new Map<string, { readonly accepted: Accepted; count: number }>()

  find(caller: string, name: string): Accepted | undefined {
    const key = keyOf(caller, name)
    const known = this.#accepted.get(key)
    if (known === undefined) return undefined
    known.count += 1
    if (known.count >= MOST_IN_A_ROW) this.#accepted.delete(key)
    return known.accepted
  }

  /** @param name with a query there would be very many */
  keep(caller: string, name: string, accepted: Accepted): void {
    if (name.length > MAX_NAME_LENGTH || name.includes('?')) return
    const key = keyOf(caller, name)
    if (this.#accepted.has(key)) return
    this.#accepted.set(key, { accepted, count: 0 })
    const [oldest] = this.#accepted.keys()
    if (this.#accepted.size > MAX_ACCEPTED && oldest !== undefined) this.#accepted.delete(oldest)
  }

  forget(caller: string, name: string): void {
    this.#accepted.delete(keyOf(caller, name))
  }
}

function keyOf(caller: string, name: string): string {
  return `${caller} ${name}`
}
