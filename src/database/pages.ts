import type { SelectQueryBuilder, Simplify } from 'kysely'
import type { Page } from '../jsonapi/paging.ts'

/** How many rows a query finds that has selected nothing yet. */
export async function countOf<DB, TB extends keyof DB>(
  query: SelectQueryBuilder<DB, TB, object>,
): Promise<number> {
  const counted = query.select((eb) => eb.fn.countAll<number>().as('count')).$castTo<{ count: number }>()
  return (await counted.executeTakeFirstOrThrow()).count
}

/** A page of what the query finds, and how many rows it finds in all. `select` gives it columns and an order. */
export async function pageOf<
  Found extends SelectQueryBuilder<never, never, object>,
  DB,
  TB extends keyof DB,
  Row,
>(
  query: Found,
  { number, size }: Page,
  select: (query: Found) => SelectQueryBuilder<DB, TB, Row>,
): Promise<{ rows: Simplify<Row>[]; total: number }> {
  const total = await countOf(query)
  const rows = await select(query)
    .limit(size)
    .offset((number - 1) * size)
    .execute()
  return { rows, total }
}
