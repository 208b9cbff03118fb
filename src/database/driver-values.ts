import type { SQLInputValue } from 'node:sqlite'

/**
 * The only file that believes the type of a row. A query says what it selects, but a driver does not know. To check each
 * row would cost more than to read it.
 */

export function rowsOf<Row>(rows: readonly unknown[]): Row[] {
  return rows as Row[]
}

/** Undefined if there is no row. */
export function rowOf<Row>(row: unknown): Row | undefined {
  return row as Row | undefined
}

/** The values of a query as node:sqlite takes them. It refuses any other value. */
export function inputsOf(values: readonly unknown[]): SQLInputValue[] {
  return values as SQLInputValue[]
}
