/** Items of several owners. They are taken in order of arrival, but each owner has one taken before any has a second. */
export class Rotation<T> {
  /** The owner whose turn is next comes first. */
  readonly #byOwner = new Map<string, T[]>()
  #count = 0

  get count(): number {
    return this.#count
  }

  countOf(owner: string): number {
    return this.#byOwner.get(owner)?.length ?? 0
  }

  add(item: T, owner: string): void {
    const items = this.#byOwner.get(owner)
    if (items === undefined) this.#byOwner.set(owner, [item])
    else items.push(item)
    this.#count += 1
  }

  take(): T | undefined {
    const [first] = this.#byOwner
    if (first === undefined) return undefined
    const [owner, items] = first
    const item = items.shift()
    this.#byOwner.delete(owner)
    if (items.length > 0) this.#byOwner.set(owner, items)
    this.#count -= 1
    return item
  }
}
