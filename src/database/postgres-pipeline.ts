import type { ClientConfig, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { GENERIC_PLANS, PostgresClient } from './postgres-client.ts'
import { DeadlineError } from './postgres-errors.ts'

const CONNECTIONS = 2
/** Few connections with many statements need fewer switches between processes than many with one each. */
const STATEMENTS_A_CONNECTION = 16
/** The statements wait for no lock: without an answer for this long the connection is broken. */
const SILENCE_MS = 1_000
/** Counted in parts: after a stall of the event loop timers run before arrived data is read. */
const PARTS = 10
const PAUSE_BEFORE_CONNECT_MS = 250

/** The most statements that are under way at once. */
export const MAX_PIPELINED = CONNECTIONS * STATEMENTS_A_CONNECTION

/** One connection. A statement is sent before the answers to earlier ones have come. */
class Line {
  readonly #config: ClientConfig
  #client: PostgresClient | undefined
  #connecting: Promise<void> | undefined
  #mayConnectAt = 0
  #answers = 0
  #answersSeen = 0
  #silentParts = 0
  waiting = 0

  constructor(config: ClientConfig) {
    this.#config = { ...config, pipeline: true }
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
    const client = new PostgresClient(this.#config)
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    try {
      await client.connect()
      await client.query(`set ${GENERIC_PLANS}`)
      this.#client = client
    } catch {
      client.cut(new Error('given up'))
    }
  }

  query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]> {
    const client = this.#client
    if (client === undefined) return Promise.reject(new DeadlineError('the connection is not open'))
    this.waiting += 1
    return new Promise((resolve, reject) => {
      client.query<Row>(statement, (error: Error | null, result: QueryResult<Row> | undefined) => {
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
    this.#client?.cut(error)
    this.#client = undefined
  }
}

/** Connections for short reads that need no transaction. Each takes the statements of many requests. */
export class PostgresPipeline {
  readonly #lines: readonly Line[]
  readonly #timer: NodeJS.Timeout

  constructor(config: ClientConfig) {
    this.#lines = Array.from({ length: CONNECTIONS }, () => new Line(config))
    this.#timer = setInterval(() => {
      for (const line of this.#lines) line.cutIfSilent()
    }, SILENCE_MS / PARTS).unref()
  }

  /** The rows of a statement; undefined if no connection is open. Any failure may be one of the connection. */
  query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]> | undefined {
    let best: Line | undefined
    for (const line of this.#lines) {
      if (!line.isOpen) void line.open()
      else if (best === undefined || best.waiting >= STATEMENTS_A_CONNECTION) best = line
    }
    return best?.query<Row>(statement)
  }

  async open(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.open()))
  }

  close(): void {
    clearInterval(this.#timer)
    for (const line of this.#lines) line.cut(new DeadlineError('the database was closed'))
  }
}
