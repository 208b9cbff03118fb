/** Work that waits, in the order of its arrival; but each caller has a turn before any has a second one. */
export class FairQueue {
  readonly #byCaller = new Map<string, (() => void)[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(caller: string, begin: () => void): void {
    const waiting = this.#byCaller.get(caller)
    if (waiting === undefined) this.#byCaller.set(caller, [begin])
    else waiting.push(begin)
    this.#size += 1
  }

  /** Takes what is next; undefined when nothing waits. */
  next(): (() => void) | undefined {
    const [first] = this.#byCaller
    if (first === undefined) return undefined
    const [caller, waiting] = first
    const begin = waiting.shift()
    this.#byCaller.delete(caller)
    if (waiting.length > 0) this.#byCaller.set(caller, waiting)
    this.#size -= 1
    return begin
  }
}
