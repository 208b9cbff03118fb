const READS_A_TURN = 100

/** The turn of the event loop whose reads share a snapshot. */
export type ReadingTurn = { readonly isFull: () => boolean; readonly end: () => void }

/**
 * Reads that found the turn full, in the order of their arrival; but each caller has one of theirs begun before any has a
 * second one.
 */
export class LaterReads {
  readonly #turn: ReadingTurn
  readonly #byCaller = new Map<string, (() => void)[]>()
  #count = 0

  constructor(turn: ReadingTurn) {
    this.#turn = turn
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  add<T>(read: () => Promise<T>, caller = ''): Promise<T> {
    return new Promise((resolve, reject) => {
      const begin = () => void read().then(resolve, reject)
      const waiting = this.#byCaller.get(caller)
      if (waiting === undefined) this.#byCaller.set(caller, [begin])
      else waiting.push(begin)
      this.#count += 1
      if (this.#count === 1) setImmediate(() => this.#beginSome())
    })
  }

  /** Each of these callbacks ends with the work that it began. The first always begins some, the others until the turn is full. */
  #beginSome(): void {
    const count = Math.min(this.#count, READS_A_TURN)
    for (let number = 0; number < count; number++) {
      setImmediate(() => {
        if (number === 0 || !this.#turn.isFull()) this.#beginNext()
      })
    }
    setImmediate(() => {
      // What arrives from now on must see what other processes commit from now on.
      this.#turn.end()
      if (this.#count > 0) this.#beginSome()
    })
  }

  #beginNext(): void {
    const [first] = this.#byCaller
    if (first === undefined) return
    const [caller, waiting] = first
    const begin = waiting.shift()
    this.#byCaller.delete(caller)
    if (waiting.length > 0) this.#byCaller.set(caller, waiting)
    this.#count -= 1
    begin?.()
  }
}
