import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type Compilable,
} from 'kysely'
import type { Engine } from './portable.ts'
import type { Tables } from './tables.ts'

/** A placeholder for a value that is known only when the query runs. */
class Parameter {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type CompiledSql = { sql: string; parameters: readonly string[]; onlyParameter: string | undefined }

/**
 * A query that is compiled once per engine and prepared once per connection, because compiling costs more than running.
 * `Values` are its parameters, `Row` is the type of a row.
 */
export class PreparedQuery<Values extends Record<string, unknown>, Row> {
  declare readonly row: Row
  readonly #build: Builder<Values, Row>
  readonly #compiled: Partial<Record<Engine, CompiledSql>> = {}

  constructor(build: Builder<Values, Row>) {
    this.#build = build
  }

  sql(engine: Engine): string {
    return this.#compile(engine).sql
  }

  parameters(engine: Engine, values: Values): unknown[] {
    return this.#compile(engine).parameters.map((name) => values[name])
  }

  /** The value of the query's only parameter, if it is a text: it can be a cache key. Otherwise undefined. */
  onlyValue(engine: Engine, values: Values): string | undefined {
    const { onlyParameter } = this.#compile(engine)
    const value = onlyParameter === undefined ? undefined : values[onlyParameter]
    return typeof value === 'string' ? value : undefined
  }

  #compile(engine: Engine): CompiledSql {
    const compiled = this.#compiled[engine]
    if (compiled !== undefined) return compiled
    const { sql, parameters } = this.#build(
      builders[engine],
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it stands for the value
      <N extends keyof Values & string>(name: N) => new Parameter(name) as Values[N],
      engine,
    ).compile()
    const names = parameters.flatMap((value) => (value instanceof Parameter ? [value.name] : []))
    const [onlyParameter, ...others] = new Set(names)
    const only = others.length === 0 ? onlyParameter : undefined
    return (this.#compiled[engine] = { sql, parameters: names, onlyParameter: only })
  }
}

type Builder<Values, Row> = (
  db: Kysely<Tables>,
  param: <N extends keyof Values & string>(name: N) => Values[N],
  engine: Engine,
) => Compilable<Row>

/**
 * Example: `prepared<{ id: string }>()((db, param) => db.selectFrom('teams').where('id', '=',
 * param('id')).selectAll())`
 */
export function prepared<Values extends Record<string, unknown>>(): <Row>(
  build: Builder<Values, Row>,
) => PreparedQuery<Values, Row> {
  return (build) => new PreparedQuery(build)
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

const builders: Record<Engine, Kysely<Tables>> = {
  sqlite: new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteCompiler(),
    },
  }),
  postgres: new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresCompiler(),
    },
  }),
}
