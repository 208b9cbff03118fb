import { entriesOf } from '../core/keys.ts'
import { tableKeys } from '../database/table-keys.ts'

type Keys = typeof tableKeys
type Entry = ReturnType<typeof entriesOf<Keys>>[number]

/** The tables of a backup. */
export type TableName = { [T in keyof Keys]: Keys[T] extends null ? never : T }[keyof Keys]

export const backedUpTables = entriesOf(tableKeys).filter(
  (entry): entry is Entry & [TableName, string[]] => entry[1] !== null,
)

/** Tables whose rows may have up to 1 MiB; rows of other tables are small. */
const largeRows: readonly string[] = ['state_chunks', 'output_blocks'] satisfies TableName[]

export function rowsAtOnce(table: string): number {
  return largeRows.includes(table) ? 8 : 500
}

/** Tables with a key that the engine generates. */
export const countedTables = backedUpTables.filter(([, key]) => key[0] === 'number').map(([table]) => table)
