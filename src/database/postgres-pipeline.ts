import type { QueryArrayConfig, QueryArrayResult } from 'pg'
import { afterPatience } from '../core/patience.ts'
import type { PostgresAddress } from './postgres-address.ts'
import { GENERIC_PLANS, NO_JIT, PostgresClient } from './postgres-client.ts'
import { DeadlineError } from './postgres-errors.ts'
import { asOne, type ReadAnswer, type ReadStatement, type Records } from './read-statement.ts'

const CONNECTIONS = 2
const MOST_TOGETHER = 16
/** The statements wait for no lock: without an answer for this long the connection is broken. */
const SILENCE_MS = 1_000
/** Counted in parts: after a stall of the event loop timers run before arrived data is read. */
const PARTS = 10
const PAUSE_BEFORE_CONNECT_MS = 250
/** Ends the work of the server for a connection that was cut. */
const STATEMENT_TIMEOUT = "statement_timeout = '2s'"

/** The most reads that are under way or wait for a connection. Others wait for their turn. */
export const MAX_PIPELINED = 32

/** One connection. A statement is sent before the answers to earlier ones have come. */
class Line {
  readonly #address: PostgresAddress
  #client: PostgresClient | undefined
  #connecting: Promise<void> | undefined
  /** The client of `#connecting`. */
  #next: PostgresClient | undefined
  #mayConnectAt = 0
  #answers = 0
  #answersSeen = 0
  #silentParts = 0
  waiting = 0

  constructor(address: PostgresAddress) {
    this.#address = address
  }

  get isOpen(): boolean {
    return this.#client !== undefined
  }

  /** Never throws: a connection that cannot be opened now is tried again when it is wanted. */
  open(): Promise<void> {
    return (this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined)))
  }

  async #connect(): Promise<void> {
    if (this.#client !== undefined || performance.now() < this.#mayConnectAt) return
    this.#mayConnectAt = performance.now() + PAUSE_BEFORE_CONNECT_MS
    const client = (this.#next = new PostgresClient({ ...this.#address.config, pipeline: true }))
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    let callOff = () => {}
    try {
      await client.connect()
      // A pooler may take the connection before a server is free.
      callOff = afterPatience(SILENCE_MS, () => client.cut(new DeadlineError('a connection did not answer')))
      await client.query(`set ${GENERIC_PLANS}; set ${NO_JIT}; set ${STATEMENT_TIMEOUT}`)
      await this.#address.admit(client)
      this.#client = client
    } catch {
      client.cut(new Error('given up'))
    }
    callOff()
    this.#next = undefined
  }

  query(statement: QueryArrayConfig): Promise<ReadAnswer[]> {
    const client = this.#client
    if (client === undefined) return Promise.reject(new DeadlineError('the connection is not open'))
    this.waiting += 1
    client.gather()
    return new Promise((resolve, reject) => {
      client.query(statement, (error: Error | null, result: QueryArrayResult<ReadAnswer> | undefined) => {
        this.waiting -= 1
        this.#answers += 1
        if (error === null && result !== undefined) resolve(result.rows)
        else reject(error ?? new Error('a statement had no result'))
      })
    })
  }

  /** To be called at each part of the time of silence. */
  cutIfSilent(): void {
    const isSilent = this.waiting > 0 && this.#answers === this.#answersSeen
    this.#answersSeen = this.#answers
    this.#silentParts = isSilent ? this.#silentParts + 1 : 0
    if (this.#silentParts >= PARTS) this.cut(new DeadlineError('a connection did not answer'))
  }

  cut(error: Error): void {
    this.#next?.cut(error)
    this.#client?.cut(error)
    this.#client = undefined
  }
}

type Waiting = {
  readonly statement: ReadStatement
  readonly resolve: (records: Records) => void
  readonly reject: (error: unknown) => void
}

/** The reads with one statement: how many times it is under way, and who waits for that. */
type Alike = { underWay: number; waiting: Waiting[] }

/**
 * Connections for short reads that need no transaction. A read waits for the end of the turn of the event loop, and while
 * its statement is under way on each connection. Those that wait for the same statement are sent as one, because little of
 * its cost is in its rows.
 */
export class PostgresPipeline {
  readonly #lines: readonly Line[]
  readonly #timer: NodeJS.Timeout
  readonly #reads = new Map<string, Alike>()
  #willSend = false
  #isClosed = false

  constructor(address: PostgresAddress) {
    this.#lines = Array.from({ length: CONNECTIONS }, () => new Line(address))
    this.#timer = setInterval(() => {
      for (const line of this.#lines) line.cutIfSilent()
    }, SILENCE_MS / PARTS).unref()
  }

  /** The records of each step; undefined if no connection is open. Any failure may be one of the connection. */
  query(statement: ReadStatement): Promise<Records> | undefined {
    if (this.#line() === undefined) return undefined
    return new Promise((resolve, reject) => {
      const alike = this.#reads.get(statement.name) ?? { underWay: 0, waiting: [] }
      this.#reads.set(statement.name, alike)
      alike.waiting.push({ statement, resolve, reject })
      if (!this.#willSend) setImmediate(() => this.#sendAll())
      this.#willSend = true
    })
  }

  async open(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.open()))
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const line of this.#lines) line.cut(new DeadlineError('the database was closed'))
  }

  /** The open connection with the fewest statements. */
  #line(): Line | undefined {
    if (this.#isClosed) return undefined
    let best: Line | undefined
    for (const line of this.#lines) {
      if (!line.isOpen) void line.open()
      else if (best === undefined || line.waiting < best.waiting) best = line
    }
    return best
  }

  /** At the end of a turn of the event loop, so that the reads which arrived in it go together. */
  #sendAll(): void {
    this.#willSend = false
    for (const [name, alike] of this.#reads) this.#send(alike, name)
  }

  #send(alike: Alike, name: string): void {
    while (alike.underWay < CONNECTIONS && alike.waiting.length > 0) {
      void this.#run(alike, name, alike.waiting.splice(0, MOST_TOGETHER))
    }
    if (alike.underWay === 0) this.#reads.delete(name)
  }

  async #run(alike: Alike, name: string, together: readonly Waiting[]): Promise<void> {
    alike.underWay += 1
    try {
      const line = this.#line()
      if (line === undefined) throw new DeadlineError('no connection is open')
      const statement = asOne(together.map((each) => each.statement))
      const answers = await line.query(statement)
      if (answers.length !== together.length) throw new Error('a read was not answered')
      for (const [place, ...records] of answers) together[place - 1]?.resolve(records)
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
    alike.underWay -= 1
    this.#send(alike, name)
  }
}
