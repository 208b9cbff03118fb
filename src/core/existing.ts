/** A row that must be there, because this transaction wrote it or holds its lock. */
export function existing<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('a row that must exist is missing')
  return row
}
