import type { Kysely } from 'kysely'
import { types, type QueryResult, type QueryResultRow } from 'pg'
import type { Transaction, Work } from './database.ts'
import { rowsOf } from './driver-values.ts'
import { MAX_PIPELINED, type PostgresPipeline } from './postgres-pipeline.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import { MAX_STEPS, ReadPlans, type ReadPlan } from './read-plans.ts'
import { hasStep, type Records, type Step } from './read-statement.ts'
import { readRecords, type Column } from './record-text.ts'
import type { Tables } from './tables.ts'
import { Turns } from './turns.ts'

// A request that a caller repeats runs the same statements with the same values. The database remembers which, and sends
// them as one statement the next time. Only the statements are remembered, never their rows: what was revoked since is
// refused. If the request then needs another statement, it runs again in a transaction.

/** Larger and slower reads stay in a transaction: statements of other requests would wait behind theirs. */
const MAX_ROWS = 200
const MAX_BYTES = 4_096
const MAX_TEXT = 8_192
const MAX_MS = 100

const columnTypes: ReadonlyMap<number, Column['type']> = new Map([
  [types.builtins.BOOL, 'boolean'],
  [types.builtins.BYTEA, 'bytes'],
  [types.builtins.INT2, 'number'],
  [types.builtins.INT4, 'number'],
  [types.builtins.INT8, 'number'],
  [types.builtins.TEXT, 'text'],
  [types.builtins.VARCHAR, 'text'],
])

/** A read that a caller may repeat, or make a similar one. See TransactionOptions. */
export type NamedRead = { readonly caller: string; readonly name: string; readonly like?: string }

function isLongText(value: unknown): boolean {
  return typeof value === 'string' && value.length > MAX_TEXT
}

/** Notes the statements of a read. */
export class ReadRecord {
  readonly #steps: Step[] = []
  readonly #start = performance.now()
  #isRepeatable = true
  #rows = 0
  #length = 0

  note(query: PreparedQuery<never, unknown>, values: Values, { fields, rows }: QueryResult): void {
    const columns = fields.flatMap(({ name, dataTypeID }) => {
      const type = columnTypes.get(dataTypeID)
      return type === undefined ? [] : [{ name, type }]
    })
    for (const { name } of columns.filter(({ type }) => type === 'bytes'))
      for (const row of rows) this.#length += Buffer.byteLength(row[name] ?? '')
    // The values of a plan are kept, and a caller may be in thousands of teams.
    const isLong = [values, ...rows].some((each) => Object.values(each).some((value) => isLongText(value)))
    this.#rows += rows.length
    const isReadable = columns.length === fields.length && columns.length > 0
    if (!isReadable || isLong || this.#rows > MAX_ROWS || this.#length > MAX_BYTES) this.giveUp()
    else if (!this.#steps.some((step) => hasStep(step, query, values))) {
      this.#steps.push({ query, values, columns })
    }
  }

  /** A statement was run that is not prepared. */
  giveUp(): void {
    this.#isRepeatable = false
  }

  /** All statements, if they can be run as one. A second call may return something else: time has passed. */
  steps(): readonly Step[] | undefined {
    const isShort = this.#steps.length <= MAX_STEPS && performance.now() - this.#start <= MAX_MS
    return this.#isRepeatable && isShort ? this.#steps : undefined
  }

  /** The first statements that can be run as one. */
  get firstSteps(): readonly Step[] {
    return this.#steps.slice(0, MAX_STEPS)
  }
}

/** Answers the statements of a plan from its rows. Any other statement fails, and `isMissed` is true then. */
export class ReplayedRead implements Transaction {
  readonly engine = 'postgres'
  readonly mode = 'read'
  readonly #steps: readonly Step[]
  readonly #rows: readonly QueryResultRow[][]
  readonly #used = new Set<Step>()
  isMissed = false

  constructor({ steps }: ReadPlan, records: Records) {
    this.#steps = steps
    this.#rows = steps.map(({ columns }, place) => readRecords(records[place] ?? '', columns))
  }

  get rowCount(): number {
    return this.#rows.reduce((sum, rows) => sum + rows.length, 0)
  }

  get db(): Kysely<Tables> {
    throw this.#missed()
  }

  /** The steps that were used; the same list if these are all. */
  get used(): readonly Step[] {
    return this.#used.size === this.#steps.length ? this.#steps : [...this.#used]
  }

  async all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row[]> {
    const rows = this.find(query, values)
    if (rows === undefined) throw this.#missed()
    return rows
  }

  /** The rows of a statement of the plan; undefined for any other statement. */
  find<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Row[] | undefined {
    const place = this.#steps.findIndex((each) => hasStep(each, query, values))
    const [step, rows] = [this.#steps[place], this.#rows[place]]
    if (step === undefined || rows === undefined) return undefined
    this.#used.add(step)
    return rowsOf<Row>(rows)
  }

  async first<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<Row | undefined> {
    return (await this.all(query, values))[0]
  }

  async send(): Promise<void> {
    throw this.#missed()
  }

  /** Only a refusal repeats a query. Its statements must all be run. */
  async repeat(): Promise<void> {
    throw this.#missed()
  }

  beforeCommit(): void {
    throw this.#missed()
  }

  afterCommit(): void {
    throw this.#missed()
  }

  #missed(): Error {
    this.isMissed = true
    return new Error('the statement is not in the plan')
  }
}

/** Repeats the reads of callers. */
export class Replays {
  readonly #plans = new ReadPlans()
  readonly #pipeline: PostgresPipeline
  readonly #turns = new Turns(MAX_PIPELINED)

  constructor(pipeline: PostgresPipeline) {
    this.#pipeline = pipeline
  }

  /** Reads with the statements of the last time. Undefined if that was not possible: nothing has been done then. */
  async read<T>(
    { caller, name }: NamedRead,
    account: string | undefined,
    work: Work<T>,
  ): Promise<{ value: T } | undefined> {
    const { lean, whole } = this.#plans.find(caller, name) ?? {}
    if (lean === undefined || whole === undefined) return undefined
    for (const plan of whole === lean ? [lean] : [lean, whole]) {
      const tx = await this.#run(plan, account)
      if (tx === undefined || tx.rowCount > MAX_ROWS) break
      try {
        const value = await work(tx)
        if (tx.isMissed) throw new Error('the work caught the failure of a statement')
        this.#plans.use(caller, name, tx.used)
        return { value }
      } catch (error) {
        if (tx.isMissed && plan === whole) {
          // A part of the read may have filled caches, so that the transaction needs less.
          this.#plans.miss(caller, name, tx.used)
          return undefined
        }
        if (!tx.isMissed) {
          this.#plans.forget(caller, name)
          throw error
        }
      }
    }
    this.#plans.forget(caller, name)
    return undefined
  }

  /** Reads that wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting
  }

  forgetAll(): void {
    this.#plans.forgetAll()
  }

  /** All statements that the read may need, to run them in another transaction. */
  find({ caller, name }: NamedRead): ReadPlan | undefined {
    return this.#plans.find(caller, name)?.whole
  }

  /** The statements that similar requests began with. */
  findBeginning({ caller, like }: NamedRead): ReadPlan | undefined {
    return like === undefined ? undefined : this.#plans.find(caller, like)?.lean
  }

  /** @param beginning what was read with the plan of `findBeginning` */
  keep({ caller, name, like }: NamedRead, record: ReadRecord, beginning: ReplayedRead | undefined): void {
    const known = beginning?.used ?? []
    const others = record.steps()
    if (others !== undefined && known.length + others.length <= MAX_STEPS) {
      this.#plans.keep(caller, name, [...known, ...others])
    }
    if (like === undefined) return
    const common = beginning === undefined ? record.firstSteps : known
    if (common.length === 0) this.#plans.forget(caller, like)
    else this.#plans.keep(caller, like, common)
  }

  /** Undefined if the statement failed for any reason: a transaction finds out. */
  async #run(plan: ReadPlan, account: string | undefined): Promise<ReplayedRead | undefined> {
    const end = await this.#turns.take({ mode: 'read', account })
    try {
      const records = await this.#pipeline.query(plan.statement)
      return records && new ReplayedRead(plan, records)
    } catch {
      return undefined
    } finally {
      end()
    }
  }
}
