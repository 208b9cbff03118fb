import { sql, type Insertable, type Kysely, type RawBuilder, type Selectable, type Updateable } from 'kysely'
import type { Transaction } from './database.ts'
import { unlessTaken } from './portable.ts'
import { prepared, type Lists, type PreparedQuery } from './prepared.ts'
import type { Tables } from './tables.ts'

/** The tables whose rows have a text as id. */
type TableWithId = { [T in keyof Tables]: Tables[T] extends { id: string } ? T : never }[keyof Tables]
type Row<T extends keyof Tables> = Selectable<Tables[T]>

/** Kysely cannot check a statement whose table is a parameter. The types of the functions below stand for it. */
// oxlint-disable-next-line typescript/no-explicit-any
const unchecked = (db: Kysely<Tables>): Kysely<any> => db

/** Makes the function that finds a row by its id, or by the value of another unique column. */
export function rowBy<T extends TableWithId>(table: T, unique: keyof Tables[T] & string) {
  const name: string = table
  const column: string = unique
  const query = prepared<{ value: string }>()((db, param) =>
    unchecked(db).selectFrom(name).where(column, '=', param('value')).selectAll().$castTo<Row<T>>(),
  )
  return (tx: Transaction, value: string) => tx.first(query, { value })
}

/** Makes the function that finds a row by its name in an organization. */
export function rowByName<T extends 'projects' | 'teams' | 'workspaces'>(table: T) {
  const name: string = table
  const query = prepared<{ organizationId: string; name: string }>()((db, param) =>
    unchecked(db)
      .selectFrom(name)
      .where('organization_id', '=', param('organizationId'))
      .where('name', '=', param('name'))
      .selectAll()
      .$castTo<Row<T>>(),
  )
  return (tx: Transaction, organizationId: string, named: string) =>
    tx.first(query, { organizationId, name: named })
}

/** Makes the function that inserts a row. It returns undefined if another row has the same values in these columns. */
export function insertUnlessTaken<T extends TableWithId>(table: T, ...columns: (keyof Tables[T] & string)[]) {
  const name: string = table
  return (tx: Transaction, row: Insertable<Tables[T]>): Promise<Row<T> | undefined> =>
    unchecked(tx.db)
      .insertInto(name)
      .values(row)
      .onConflict((conflict) => conflict.columns(columns).doNothing())
      .returningAll()
      .$castTo<Row<T>>()
      .executeTakeFirst()
}

/** Makes the function that changes a row, which must exist. */
export function updateRow<T extends TableWithId>(table: T) {
  const name: string = table
  return (tx: Transaction, id: string, changes: Updateable<Tables[T]>): Promise<Row<T>> =>
    unchecked(tx.db)
      .updateTable(name)
      .set({ ...changes })
      .where('id', '=', id)
      .returningAll()
      .$castTo<Row<T>>()
      .executeTakeFirstOrThrow()
}

/** The same. It returns undefined if a unique value is taken; the caller must then end the transaction. */
export function updateUnlessTaken<T extends TableWithId>(table: T) {
  const update = updateRow(table)
  return (...given: Parameters<typeof update>) => unlessTaken(update(...given))
}

/** The parameters of a statement for several rows, and the types of their values on PostgreSQL. */
export type ListTypes<Name extends string> = Readonly<Record<Name, 'text' | 'bigint' | 'bytea'>>

/** For `from` on PostgreSQL: lists as the columns of rows. An array has every character and digit as it was given. */
export function rowsOfLists<Name extends string>(
  types: ListTypes<Name>,
  param: (name: Name) => unknown,
): RawBuilder<Record<Name, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys are the names
  const names = Object.keys(types) as Name[]
  const lists = names.map((name) => sql`${param(name)}::${sql.raw(types[name])}[]`)
  return sql`unnest(${sql.join(lists)}) as given(${sql.join(names.map((name) => sql.id(name)))})`
}

/**
 * Makes an insert of a row with these columns.
 *
 * @param unique then it returns the row, or none if another row has the same values in these columns
 */
export function insertionOf<T extends keyof Tables, Column extends keyof Row<T> & string>(
  table: T,
  types: ListTypes<Column>,
  unique?: readonly NoInfer<Column>[],
): PreparedQuery<Pick<Row<T>, Column>, Row<T>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys are the columns
  const columns = Object.keys(types) as Column[]
  const name: string = table
  const into = (db: Kysely<Tables>) => {
    const insert = unchecked(db).insertInto(name).columns(columns)
    if (unique === undefined) return insert.$castTo<Row<T>>()
    const unlessTaken = insert.onConflict((conflict) => conflict.columns([...unique]).doNothing())
    return unlessTaken.returningAll().$castTo<Row<T>>()
  }
  const many = prepared<Lists<Pick<Row<T>, Column>>>()((db, param) =>
    into(db).expression(sql`select * from ${rowsOfLists(types, param)}`),
  )
  return prepared<Pick<Row<T>, Column>>()(
    (db, param) => into(db).values(Object.fromEntries(columns.map((column) => [column, param(column)]))),
    many,
  )
}
