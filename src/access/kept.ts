/** The version is of all that the kept values depend on: with another version they are others. */
export type Versioned = { readonly id: string; readonly version: number }

/**
 * Keeps values that belong to an organization's version. What was only of an older version is gone with the first of a
 * newer one; when all weigh too much together they begin anew, and what is asked for again is soon there again.
 */
export class Kept<Value> {
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
    // A read that began before another one may know less.
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
