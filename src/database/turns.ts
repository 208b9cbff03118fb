import { databaseUnavailable } from './unavailable.ts'

/** Of one organization: its writes follow each other anyway, and the second prepares while the first commits. */
const WRITES_OF_ORGANIZATION = 2
const WAITING_OF_ORGANIZATION = 250
const MAX_WAITING = 1_000
const MAX_WAIT_MS = 10_000

export type Turn = { mode: 'read' | 'write'; organizationId: string | undefined }
type Waiting = { turn: Turn; begin: () => void }

/**
 * Who may use a connection now. Writes may wait for each other inside the database, so they get only a part of the
 * connections, and those of one organization only two: its waiting writers wait here, and keep nobody else from anything.
 */
export class Turns {
  readonly #connections: number
  readonly #writes: number
  readonly #used = { read: 0, write: 0 }
  readonly #usedBy = new Map<string, number>()
  /** In the order of their arrival. */
  readonly #waiting: Waiting[] = []

  constructor(connections: number) {
    this.#connections = connections
    this.#writes = Math.ceil(connections * 0.6)
  }

  /** Resolves when it is this one's turn, to what must be called at its end. Throws 503 beside too many others. */
  async take(turn: Turn): Promise<() => void> {
    // Nobody who waits could begin: that is looked at whenever a turn ends.
    if (this.#isFree(turn)) this.#count(turn, 1)
    else await this.#wait(turn)
    return () => {
      this.#count(turn, -1)
      this.#beginNext()
    }
  }

  #isFree({ mode, organizationId }: Turn): boolean {
    const { read, write } = this.#used
    if (read + write >= this.#connections) return false
    if (mode === 'read') return true
    return write < this.#writes && this.#usedByOrganization(organizationId) < WRITES_OF_ORGANIZATION
  }

  #usedByOrganization(organizationId: string | undefined): number {
    return organizationId === undefined ? 0 : (this.#usedBy.get(organizationId) ?? 0)
  }

  #count({ mode, organizationId }: Turn, change: 1 | -1): void {
    this.#used[mode] += change
    if (organizationId === undefined) return
    const used = this.#usedByOrganization(organizationId) + change
    if (used === 0) this.#usedBy.delete(organizationId)
    else this.#usedBy.set(organizationId, used)
  }

  #beginNext(): void {
    const index = this.#waiting.findIndex(({ turn }) => this.#isFree(turn))
    if (index !== -1) this.#waiting.splice(index, 1)[0]?.begin()
  }

  #wait(turn: Turn): Promise<void> {
    const { organizationId } = turn
    const isFull =
      this.#waiting.length >= MAX_WAITING ||
      (organizationId !== undefined && this.#waitingOf(organizationId) >= WAITING_OF_ORGANIZATION)
    if (isFull) throw databaseUnavailable(undefined, 'too many requests wait for the database')
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        turn,
        begin: () => {
          clearTimeout(timer)
          this.#count(turn, 1)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(databaseUnavailable(undefined, 'the database is busy with other requests'))
      }, MAX_WAIT_MS)
      this.#waiting.push(waiting)
    })
  }

  #waitingOf(organizationId: string): number {
    return this.#waiting.filter(({ turn }) => turn.organizationId === organizationId).length
  }
}
