/** The version covers everything that the cached values depend on. A new version means new values. */
type Versioned = { readonly id: string; readonly version: number }

/**
 * Caches values by organization and version. The first value of a newer version drops the values of the older one. When
 * the total weight exceeds the limit, the whole cache is cleared; values in use come back soon.
 */
export class OrganizationCache<Value> {
  readonly #limit: number
  readonly #weigh: (value: Value) => number
  readonly #organizations = new Map<string, { version: number; values: Map<string, Value>; weight: number }>()
  #weight = 0

  constructor(limit: number, weigh: (value: Value) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get({ id, version }: Versioned, key: string): Value | undefined {
    const known = this.#organizations.get(id)
    return known?.version === version ? known.values.get(key) : undefined
  }

  set({ id, version }: Versioned, key: string, value: Value): void {
    const weight = this.#weigh(value)
    if (weight > this.#limit) return
    let known = this.#organizations.get(id)
    // This read began before a newer version was cached, so its value may be stale.
    if (known !== undefined && known.version > version) return
    if (known !== undefined && known.version < version) {
      this.#weight -= known.weight
      known = undefined
    }
    if (this.#weight + weight > this.#limit) {
      this.#organizations.clear()
      this.#weight = 0
      known = undefined
    }
    if (known === undefined) {
      known = { version, values: new Map(), weight: 0 }
      this.#organizations.set(id, known)
    }
    if (known.values.has(key)) return
    known.values.set(key, value)
    known.weight += weight
    this.#weight += weight
  }
}
