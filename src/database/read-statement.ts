import { hash } from 'node:crypto'
import type { QueryArrayConfig } from 'pg'
import { existing } from '../core/existing.ts'
import type { PreparedQuery, Values } from './prepared.ts'
import type { Column } from './record-text.ts'

/** One statement of a read. */
export type Step = {
  readonly query: PreparedQuery<never, unknown>
  readonly values: Values
  /** The columns of its rows when it was recorded. Migrations of a later version may add others. */
  readonly columns: readonly Column[]
}

export function hasStep(
  { query, values }: Step,
  other: PreparedQuery<never, unknown>,
  given: Values,
): boolean {
  return query === other && Object.entries(given).every(([name, value]) => values[name] === value)
}

/** The statements of a read as one, which can answer several such reads. */
export type ReadStatement = {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** The records of each step as text; null if a step has none. */
export type Records = readonly (string | null)[]

/** A row of the statement: the read that it answers, counted from 1, and its records. */
export type ReadAnswer = [place: number, ...records: Records]

/** Each connection prepares each statement. The code has far fewer. */
const MAX_STATEMENTS = 500

export class ReadStatements {
  /** By their text, which all plans with it share. */
  readonly #known = new Map<string, { readonly name: string; readonly text: string }>()

  /** Undefined if a value is neither a text nor a whole number, or if there are too many different statements. */
  of(steps: readonly Step[]): ReadStatement | undefined {
    const values: unknown[] = []
    const parts = steps.map(({ query, values: own, columns }) => {
      const before = values.length
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are the values that the query was given
      values.push(...query.parameters('postgres', own as never))
      const text = query
        .sql('postgres')
        .replaceAll(/\$(\d+)/g, (_, place) => `given.p${Number(place) + before}`)
      // The text of a record takes PostgreSQL half the time of its JSON.
      const record = `row(${columns.map(valueIn).join(', ')})`
      return `(select string_agg(${record}::text, '') from (${text}) step)`
    })
    const types = values.map(typeOf)
    if (types.includes(undefined)) return undefined
    const lists = types.map((type, place) => `$${place + 1}::${type}[]`)
    const given = [...types.map((_, place) => `p${place + 1}`), 'place']
    const text = `select given.place::integer, ${parts.join(', ')}
from unnest(${lists.join(', ')}) with ordinality as given(${given.join(', ')})`
    const known = this.#known.get(text) ?? this.#add(text)
    return known && { ...known, values }
  }

  #add(text: string) {
    if (this.#known.size >= MAX_STATEMENTS) return undefined
    const added = { name: hash('md5', text), text }
    this.#known.set(text, added)
    return added
  }
}

/** Reads with the same statement as one query. */
export function asOne(statements: readonly ReadStatement[]): QueryArrayConfig {
  const { name, text, values } = existing(statements[0])
  const lists = values.map((_, place) => statements.map((each) => each.values[place]))
  return { name, text, values: lists, rowMode: 'array' }
}

/** The text of bytes depends on a setting of the database, bytea_output. */
function valueIn({ name, type }: Column): string {
  return type === 'bytes' ? `encode(step."${name}", 'hex')` : `step."${name}"`
}

function typeOf(value: unknown): 'text' | 'bigint' | undefined {
  if (typeof value === 'string') return 'text'
  return Number.isSafeInteger(value) ? 'bigint' : undefined
}
