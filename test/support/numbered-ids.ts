import { sql } from 'kysely'

/** Sixteen characters for an id. They sort like the numbers. */
export function idOf(n: number): string {
  return n
    .toString(9)
    .padStart(16, '0')
    .replaceAll(/\d/g, (digit) => String(Number(digit) + 1))
}

/** Inserts many rows quickly: `insert … ${numbersUpTo(9)} select ${numberedIds(1)}, n from numbers`. */
export function numbersUpTo(count: number) {
  return sql`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})`
}

/** Sixteen characters for an id for each number. Each kind gets other ids. */
export function numberedIds(kind: number) {
  return sql.raw(`replace(cast(${kind}000000000000000 + n as text), '0', 'a')`)
}
