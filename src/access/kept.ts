/**
 * Keeps values by keys whose meaning never changes, and begins anew when they weigh too much together: what is asked for
 * again is soon there again, what was only of an older version is gone.
 */
export class Kept<Value> {
  readonly #limit: number
  readonly #weigh: (value: Value) => number
  readonly #values = new Map<string, Value>()
  #weight = 0

  constructor(limit: number, weigh: (value: Value) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get(key: string): Value | undefined {
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    if (this.#values.has(key)) return
    const weight = this.#weigh(value)
    if (weight > this.#limit) return
    if (this.#weight + weight > this.#limit) {
      this.#values.clear()
      this.#weight = 0
    }
    this.#values.set(key, value)
    this.#weight += weight
  }
}
