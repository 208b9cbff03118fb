const READS_A_TURN = 100

/** A turn of the event loop whose reads share one snapshot. */
type ReadingTurn = { readonly isFull: () => boolean; readonly end: () => void }

/**
 * Reads that found the turn full. They start in order of arrival, but every caller gets one before any gets a second.
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

  /** Each callback starts one read, which ends within it. The first always does, the others until the turn is full. */
  #beginSome(): void {
    const count = Math.min(this.#count, READS_A_TURN)
    for (let number = 0; number < count; number++) {
      setImmediate(() => {
        if (number === 0 || !this.#turn.isFull()) this.#beginNext()
      })
    }
    setImmediate(() => {
      // Reads that arrive from now on must see later commits of other processes, so the snapshot ends.
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
