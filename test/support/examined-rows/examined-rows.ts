import { join } from 'node:path'
import { DatabaseSync, StatementSync, type SQLInputValue } from 'node:sqlite'
import { Client, escapeLiteral } from 'pg'
import { sqliteFile } from '../../../src/database/open.ts'
import { beginText } from '../../../src/database/postgres-connection.ts'
import { ReadThread } from '../../../src/database/read-thread-client.ts'
import type { TestServer } from '../server.ts'
import { sharedLibrary } from '../shared-library.ts'

/** So many steps of SQLite's virtual machine count as a row: to count one takes three, to answer one more. */
const STEPS_A_ROW = 5

/** Reads of writes and of background jobs. */
const ofWrites =
  / for (no key )?update|order by "finalized_at" limit|^select clock_timestamp|^select "at", "number" from "refusals"/

type Ran = {
  readonly text: string
  readonly values: readonly unknown[]
  /** It asked for one row alone. */
  readonly isFirst: boolean
  /** It ran in a thread, where it keeps nobody waiting. */
  readonly isSlow: boolean
}

/** Counts the rows that the database looks at for a request: it runs the statements of the request again. */
export class ExaminedRows {
  readonly #undo: (() => void)[]
  readonly #count: (ran: Ran) => Promise<number>
  readonly #close: () => Promise<void>
  /** The data does not change, so that a statement with the same values looks at the same rows. */
  readonly #known = new Map<string, number>()
  #ran: Ran[] = []

  private constructor(
    undo: (() => void)[],
    count: (ran: Ran) => Promise<number>,
    close: () => Promise<void>,
  ) {
    this.#undo = undo
    this.#count = count
    this.#close = close
  }

  static async on({ engine, folder, databaseUrl }: TestServer): Promise<ExaminedRows> {
    const note = (ran: Ran) => {
      const isCounted = /^(select|with) /.test(ran.text) && !ofWrites.test(ran.text)
      if (isCounted) examined.#ran.push(ran)
    }
    let examined: ExaminedRows
    if (engine === 'sqlite') {
      const database = new DatabaseSync(sqliteFile(folder), { readOnly: true, allowExtension: true })
      database.loadExtension(sharedLibrary(join(import.meta.dirname, 'steps.c'), 'tests that count rows'))
      const undo = ['all', 'get'].map((name) =>
        watch(StatementSync.prototype, name, (statement, values) => {
          if (!(statement instanceof StatementSync)) return
          note({ text: statement.sourceSQL, values, isFirst: name === 'get', isSlow: false })
        }),
      )
      undo.push(
        watch(ReadThread.prototype, 'query', (_, [text, values]) =>
          note({ text: String(text), values: values as unknown[], isFirst: false, isSlow: true }),
        ),
      )
      const close = async () => database.close()
      examined = new ExaminedRows(undo, async (ran) => rowsOfSqlite(database, ran), close)
    } else {
      const client = new Client(databaseUrl)
      await client.connect()
      const undo = watch(Client.prototype, 'query', (_, [query]) => {
        const { text = '', values = [] } = query as { text?: string; values?: unknown[] }
        note({ text, values, isFirst: false, isSlow: false })
      })
      examined = new ExaminedRows(
        [undo],
        (ran) => rowsOfPostgres(client, ran),
        () => client.end(),
      )
    }
    return examined
  }

  /** How many rows the statements of `work` look at, those that are to be counted, and the one that looks at most. */
  async by(
    work: () => Promise<unknown>,
    isCounted: (ran: Ran) => boolean,
  ): Promise<{ rows: number; worst: string }> {
    this.#ran = []
    await work()
    const all = this.#ran.filter(isCounted)
    // The statements of the count are watched, too.
    this.#ran = []
    let sum = 0
    let [most, worst] = [0, '']
    for (const ran of all) {
      const key = JSON.stringify([ran.text, ran.values, ran.isFirst])
      const rows = this.#known.get(key) ?? (await this.#count(ran))
      this.#known.set(key, rows)
      sum += rows
      if (rows > most) [most, worst] = [rows, ran.text]
    }
    return { rows: sum, worst }
  }

  async close(): Promise<void> {
    for (const undo of this.#undo) undo()
    await this.#close()
  }
}

function rowsOfSqlite(database: DatabaseSync, { text, values, isFirst }: Ran): number {
  const statement = database.prepare(text)
  const inputs = values as SQLInputValue[]
  const steps = database.prepare('select steps() as steps')
  steps.get()
  // The watched methods are those of all connections.
  if (isFirst) statement.iterate(...inputs).next()
  else for (const _ of statement.iterate(...inputs)) continue
  return Math.ceil((steps.get() as { steps: number }).steps / STEPS_A_ROW)
}

type PlanNode = { readonly Plans?: PlanNode[] } & { readonly [name: string]: unknown }

/** Runs it with the settings of a request, which plans without the values. */
async function rowsOfPostgres(client: Client, { text, values }: Ran): Promise<number> {
  await client.query(beginText({ mode: 'read' }))
  await client.query(`prepare examined as ${text}`)
  const list = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
  const { rows } = await client.query(`explain (analyze, timing off, format json) execute examined${list}`)
  await client.query('deallocate examined')
  await client.query('commit')
  return rowsSeenIn(rows[0]['QUERY PLAN'][0].Plan)
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'`
  if (Array.isArray(value)) return escapeLiteral(`{${value.map((item) => JSON.stringify(item)).join(',')}}`)
  return escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value))
}

/** The rows that the nodes of a plan took from tables and indexes. */
function rowsSeenIn({ Plans: children = [], ...node }: PlanNode): number {
  const isScan = node['Relation Name'] !== undefined || node['Index Name'] !== undefined
  const number = (name: string) => Number(node[name] ?? 0)
  const once =
    number('Actual Rows') + number('Rows Removed by Filter') + number('Rows Removed by Index Recheck')
  return children.reduce((sum, child) => sum + rowsSeenIn(child), isScan ? once * number('Actual Loops') : 0)
}

/** Calls `note` before each call of a method. Returns the function that ends it. */
function watch(
  target: object,
  name: string,
  note: (receiver: unknown, values: unknown[]) => void,
): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor
  Object.defineProperty(target, name, {
    ...before,
    value(this: unknown, ...values: unknown[]): unknown {
      note(this, values)
      return Reflect.apply(before.value as () => unknown, this, values as [])
    },
  })
  return () => Object.defineProperty(target, name, before)
}
