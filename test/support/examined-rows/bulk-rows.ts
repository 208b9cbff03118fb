import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import { numberedIds, numbersUpTo } from '../numbered-ids.ts'

type Rows = Readonly<Record<string, RawBuilder<unknown>>>

/** Inserts rows whose values are SQL with their number `n`. */
export async function insert(database: Database, table: string, count: number, rows: Rows): Promise<void> {
  const columns = sql.join(Object.keys(rows).map((name) => sql.id(name)))
  const values = sql.join(Object.values(rows))
  await database.write(
    ({ db }) =>
      sql`insert into ${sql.table(table)} (${columns}) ${numbersUpTo(count)} select ${values} from numbers`.execute(
        db,
      ),
    { isLong: true },
  )
}

export const n = sql.raw('n')
export const text = (value: string) => sql`${sql.lit(value)}`
export const number = (value: number) => sql`${sql.lit(value)}`
export const named = (prefix: string) => sql`${sql.lit(prefix)} || n`
export const id = (prefix: string, kind: number) => sql`${sql.lit(prefix)} || ${numberedIds(kind)}`
