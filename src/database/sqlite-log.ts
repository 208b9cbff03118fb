import type { SlowReads } from './slow-reads.ts'
import type { Checkpoint } from './sqlite-connection.ts'

/** Checkpoint only when the log has this many pages: a page that many commits change is then copied once. */
const MAX_PAGES = 4_000
/** From then on no slow read begins until the log is copied. */
const MAX_PAGES_BESIDE_READS = 16_000
/** How many commits pass between checks of the log's length, because a check takes as long as a small write. */
const COMMITS_A_LOOK = 16

type LogUser = {
  readonly slowReads: SlowReads
  /** Returns nothing if it failed: committed data is safe in the log. */
  readonly checkpoint: (mode: 'noop' | 'passive') => Checkpoint | undefined
  readonly isWriting: () => boolean
}

/** Copies the log into the database file when it has grown long. A later write then restarts the log. */
export class SqliteLog {
  readonly #user: LogUser
  #commitsSinceLook = 0
  #isPausing = false
  /** Set while no slow read runs, so that the log can be copied. */
  #resume: (() => void) | undefined

  constructor(user: LogUser) {
    this.#user = user
  }

  /** To be called between two writes. */
  shorten(): void {
    if (this.#resume !== undefined) return this.#copyAndResume()
    if (++this.#commitsSinceLook < COMMITS_A_LOOK) return
    this.#commitsSinceLook = 0
    const pages = this.#user.checkpoint('noop')
    if (pages === undefined || pages.log < MAX_PAGES || pages.checkpointed === pages.log) return
    this.#user.checkpoint('passive')
    if (pages.log >= MAX_PAGES_BESIDE_READS) void this.#pauseSlowReads()
  }

  /** Slow reads that overlap would keep the log from being restarted, and it would grow without end. */
  async #pauseSlowReads(): Promise<void> {
    if (this.#isPausing) return
    this.#isPausing = true
    this.#resume = await this.#user.slowReads.pause()
    // Within a write the log cannot be copied: `shorten` is called after it.
    if (!this.#user.isWriting()) this.#copyAndResume()
  }

  #copyAndResume(): void {
    this.#user.checkpoint('passive')
    this.#isPausing = false
    this.#resume?.()
    this.#resume = undefined
  }
}
