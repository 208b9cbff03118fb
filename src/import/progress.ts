const WIDTH = 24
const EVERY_MS = 100

type Output = { write: (text: string) => unknown; isTTY?: boolean; columns?: number }

/** A progress bar on a capable terminal; otherwise one line for each finished stage. */
export class Progress {
  readonly #output: Output
  readonly #canDraw: boolean
  #drawnAt = Number.NEGATIVE_INFINITY
  #isDrawn = false

  constructor(output: Output) {
    this.#output = output
    this.#canDraw = output.isTTY === true && process.env.TERM !== 'dumb'
  }

  /** `stage` is a text such as "acme: workspaces". */
  show(stage: string, done: number, total: number): void {
    if (!this.#canDraw) {
      if (done === total && total > 0) this.#output.write(`${stage}: ${total}\n`)
      return
    }
    const now = performance.now()
    if (done < total && now - this.#drawnAt < EVERY_MS) return
    this.#drawnAt = now
    const filled = total === 0 ? WIDTH : Math.floor((done / total) * WIDTH)
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`
    // A terminal may report a width of 0, which means unknown.
    const width = this.#output.columns || 80
    const line = `${bar} ${done}/${total} ${stage}`.slice(0, width - 1)
    this.#output.write(`\r\u001b[2K${line}`)
    this.#isDrawn = true
  }

  /** Clears the line for other output. */
  [Symbol.dispose](): void {
    if (this.#isDrawn) this.#output.write('\r\u001b[2K')
    this.#isDrawn = false
  }
}
