import type { Kysely } from 'kysely'
import { NO_ID } from '../core/ids.ts'
import { BeforeCommit, type LastWork } from './before-commit.ts'
import { assertOpen, type Sparing, type Transaction } from './database.ts'
import type { KnownRows } from './known-rows.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import type { Tables } from './tables.ts'

/** Many reads may share one transaction. Several writes are committed together, each in its own savepoint. */
export class SqliteTransaction implements Transaction {
  readonly engine = 'sqlite'
  readonly mode: 'read' | 'write'
  readonly isBlocking: boolean
  readonly #connection: SqliteConnection
  readonly #known: KnownRows | undefined
  readonly #beforeCommit = new BeforeCommit()
  readonly #afterCommit: (() => void)[] = []
  #isOpen = true

  /** Without `known` it is a write. */
  constructor(connection: SqliteConnection, known?: KnownRows) {
    this.#connection = connection
    this.#known = known
    this.mode = known === undefined ? 'write' : 'read'
    this.isBlocking = known !== undefined
  }

  get db(): Kysely<Tables> {
    assertOpen(this.#isOpen)
    return this.#connection.db
  }

  // Not async, so that an available result costs only one promise.
  // oxlint-disable-next-line typescript/promise-function-async
  all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V, sparing?: Sparing): Promise<Row[]> {
    return this.#connection.mustGiveWay
      ? this.#connection.giveWay().then(() => this.#all(query, values, sparing))
      : Promise.resolve(this.#all(query, values, sparing))
  }

  // oxlint-disable-next-line typescript/promise-function-async
  first<V extends Values, Row>(
    query: PreparedQuery<V, Row>,
    values: V,
    sparing?: Sparing,
  ): Promise<Row | undefined> {
    return this.#connection.mustGiveWay
      ? this.#connection.giveWay().then(() => this.#first(query, values, sparing))
      : Promise.resolve(this.#first(query, values, sparing))
  }

  async repeat<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    assertOpen(this.#isOpen)
    // With empty ids or names, which match nothing: to turn found rows into JavaScript objects takes longer, and many
    // refusals together would show what exists.
    const nothing = query.parameters('sqlite', values).map(() => NO_ID)
    this.#connection.all(query, nothing)
  }

  async send<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V): Promise<void> {
    await this.all(query, values)
  }

  beforeCommit<Item>(work: LastWork<Item>, items: readonly Item[]): void {
    assertOpen(this.#isOpen)
    this.#beforeCommit.add(work, items)
  }

  /** To be called when the work of the transaction is done. */
  async finish(): Promise<void> {
    if (!this.#beforeCommit.isEmpty) await this.#beforeCommit.run(this)
  }

  afterCommit(work: () => void): void {
    assertOpen(this.#isOpen)
    this.#afterCommit.push(work)
  }

  /** To be called when the commit is on the disk. */
  committed(): void {
    for (const work of this.#afterCommit) work()
  }

  #all<V extends Values, Row>(query: PreparedQuery<V, Row>, values: V, sparing: Sparing | undefined): Row[] {
    assertOpen(this.#isOpen)
    const known = this.#known
    const value = known === undefined ? undefined : query.cacheKey('sqlite', values)
    const list = value === undefined ? undefined : known?.list(query, value)
    if (list === undefined) {
      const rows = this.#connection.all(query, query.parameters('sqlite', values))
      return known === undefined || value === undefined ? rows : known.keepList(query, value, rows)
    }
    sparing?.spare(query, values)
    return list
  }

  #first<V extends Values, Row>(
    query: PreparedQuery<V, Row>,
    values: V,
    sparing: Sparing | undefined,
  ): Row | undefined {
    assertOpen(this.#isOpen)
    const known = this.#known
    const value = known === undefined ? undefined : query.cacheKey('sqlite', values)
    const row = value === undefined ? undefined : known?.get(query, value)
    if (row === undefined) {
      const found = this.#connection.first(query, query.parameters('sqlite', values))
      return known === undefined || value === undefined ? found : known.keep(query, value, found)
    }
    sparing?.spare(query, values)
    return row ?? undefined
  }

  end(): void {
    this.#isOpen = false
  }
}
