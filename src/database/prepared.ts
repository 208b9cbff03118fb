import { DummyDriver, Kysely, PostgresQueryCompiler, SqliteQueryCompiler, type Compilable } from 'kysely'
import { dialects } from './connection-driver.ts'
import type { Engine } from './portable.ts'
import type { Tables } from './tables.ts'

/** A placeholder for a value that is known only when the query runs. */
class Parameter {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** Enough for the ids and names of an object. */
const MAX_KEY_LENGTH = 500

/** The parameters of a query, by name. */
export type Values = Readonly<Record<string, unknown>>

/** The parameters of several runs of a query, each as a list. */
export type Lists<V extends Values> = { readonly [Name in keyof V]: readonly V[Name][] }

type CompiledSql = { sql: string; parameters: readonly string[] }

/**
 * A query that is compiled once per engine and prepared once per connection, because compiling costs more than running.
 * `V` are its parameters, `Row` is the type of a row.
 */
export class PreparedQuery<V extends Values, Row> {
  declare readonly row: Row
  /** Does on PostgreSQL what several runs of this query do. Takes their parameters as lists. */
  readonly many: PreparedQuery<never, unknown> | undefined
  readonly #build: Builder<V, Row>
  readonly #compiled: Partial<Record<Engine, CompiledSql>> = {}

  constructor(build: Builder<V, Row>, many?: PreparedQuery<never, unknown>) {
    this.#build = build
    this.many = many
  }

  sql(engine: Engine): string {
    return this.#compile(engine).sql
  }

  parameters(engine: Engine, values: V): unknown[] {
    return this.#compile(engine).parameters.map((name) => values[name])
  }

  /** For `many`. */
  parameterLists(engine: Engine, runs: readonly Values[]): unknown[] {
    return this.#compile(engine).parameters.map((name) => runs.map((values) => values[name]))
  }

  /**
   * A key for a cache of the query's rows: different values give different keys. Undefined unless all are texts, and short:
   * callers choose them, and the cache holds many.
   */
  cacheKey(engine: Engine, values: V): string | undefined {
    const { parameters } = this.#compile(engine)
    let key: string | undefined
    for (const name of parameters) {
      const value = values[name]
      if (typeof value !== 'string') return undefined
      // With its length, because callers choose values: otherwise `a`, `bc` and `ab`, `c` would give the same key.
      key = key === undefined ? value : `${key.length} ${key}${value}`
      if (key.length > MAX_KEY_LENGTH) return undefined
    }
    return key
  }

  #compile(engine: Engine): CompiledSql {
    const compiled = this.#compiled[engine]
    if (compiled !== undefined) return compiled
    const { sql, parameters } = this.#build(
      builders[engine],
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it stands for the value
      <N extends keyof V & string>(name: N) => new Parameter(name) as V[N],
      engine,
    ).compile()
    const names = parameters.flatMap((value) => (value instanceof Parameter ? [value.name] : []))
    return (this.#compiled[engine] = { sql, parameters: names })
  }
}

type Builder<V, Row> = (
  db: Kysely<Tables>,
  param: <N extends keyof V & string>(name: N) => V[N],
  engine: Engine,
) => Compilable<Row>

/**
 * Example: `prepared<{ id: string }>()((db, param) => db.selectFrom('teams').where('id', '=',
 * param('id')).selectAll())`
 */
export function prepared<V extends Values>(): <Row>(
  build: Builder<V, Row>,
  many?: PreparedQuery<Lists<V>, Row>,
) => PreparedQuery<V, Row> {
  return (build, many) => new PreparedQuery(build, many)
}

// A constant stands in the text, because a plan that is made once must know it: a limit of 1 or a status that most rows
// have leads to other plans than an unknown one.

class SqliteCompiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

class PostgresCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value)
    else this.appendImmediateValue(value)
  }
}

const createDriver = () => new DummyDriver()
const builders: Record<Engine, Kysely<Tables>> = {
  sqlite: new Kysely({
    dialect: { ...dialects.sqlite, createDriver, createQueryCompiler: () => new SqliteCompiler() },
  }),
  postgres: new Kysely({
    dialect: { ...dialects.postgres, createDriver, createQueryCompiler: () => new PostgresCompiler() },
  }),
}
