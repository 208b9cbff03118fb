import { rowOf, rowsOf } from './driver-values.ts'
import type { PreparedQuery } from './prepared.ts'

const MAX_KNOWN_ROWS = 5_000
const MAX_KNOWN_LIST = 100

/**
 * A cache of rows read since the last commit by anyone. SQLite's data_version of the current snapshot shows whether
 * there was a commit, so a cached row is always what the query would return.
 */
export class KnownRows {
  readonly #rows = new Map<PreparedQuery<never, unknown>, Map<string, unknown>>()
  readonly #lists = new Map<PreparedQuery<never, unknown>, Map<string, unknown[]>>()
  #dataVersion = -1
  #count = 0

  forgetUnless(dataVersion: number): void {
    if (dataVersion === this.#dataVersion && this.#count < MAX_KNOWN_ROWS) return
    this.#dataVersion = dataVersion
    this.#count = 0
    for (const rows of this.#rows.values()) rows.clear()
    for (const lists of this.#lists.values()) lists.clear()
  }

  /** Null: known not to exist. Missing rows are cached too, so a missing object takes as long as a hidden one. */
  get<Row>(query: PreparedQuery<never, Row>, value: string): Row | null | undefined {
    return rowOf<Row | null>(this.#rows.get(query)?.get(value))
  }

  keep<Row>(query: PreparedQuery<never, Row>, value: string, row: Row | undefined): Row | undefined {
    const rows = this.#rows.get(query) ?? new Map<string, unknown>()
    this.#rows.set(query, rows)
    // Frozen, because other readers share it.
    rows.set(copyOf(value), row === undefined ? null : Object.freeze(row))
    this.#count += 1
    return row
  }

  list<Row>(query: PreparedQuery<never, Row>, value: string): Row[] | undefined {
    const list = this.#lists.get(query)?.get(value)
    return list && rowsOf<Row>(list)
  }

  keepList<Row>(query: PreparedQuery<never, Row>, value: string, list: Row[]): Row[] {
    if (list.length > MAX_KNOWN_LIST) return list
    const lists = this.#lists.get(query) ?? new Map<string, unknown[]>()
    this.#lists.set(query, lists)
    for (const row of list) Object.freeze(row)
    Object.freeze(list)
    lists.set(copyOf(value), list)
    this.#count += 1 + list.length
    return list
  }
}

/** A text that was cut out of a request would keep the whole URL in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
