import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import type { Transaction } from './database.ts'
import { unlessTaken } from './portable.ts'
import { prepared } from './prepared.ts'
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
