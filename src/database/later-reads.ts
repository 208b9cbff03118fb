import { Rotation } from '../core/rotation.ts'

const READS_A_TURN = 100

/** A turn of the event loop whose reads share one snapshot. */
type ReadingTurn = { readonly isFull: () => boolean; readonly end: () => void }

/** Reads that found the turn full. Accounts take turns. */
export class LaterReads {
  readonly #turn: ReadingTurn
  readonly #waiting = new Rotation<() => void>()

  constructor(turn: ReadingTurn) {
    this.#turn = turn
  }

  get isEmpty(): boolean {
    return this.#waiting.count === 0
  }

  add<T>(read: () => Promise<T>, account = ''): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(() => void read().then(resolve, reject), account)
      if (this.#waiting.count === 1) setImmediate(() => this.#beginSome())
    })
  }

  /** Each callback starts one read, which ends within it. The first always does, the others until the turn is full. */
  #beginSome(): void {
    const count = Math.min(this.#waiting.count, READS_A_TURN)
    for (let number = 0; number < count; number++) {
      setImmediate(() => {
        if (number === 0 || !this.#turn.isFull()) this.#waiting.take()?.()
      })
    }
    setImmediate(() => {
      // Reads that arrive from now on must see later commits of other processes, so the snapshot ends.
      this.#turn.end()
      if (this.#waiting.count > 0) this.#beginSome()
    })
  }
}
