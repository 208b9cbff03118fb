/** A row that must be there, because this transaction wrote it or holds its lock. */
export function existing<Row>(row: Row | null | undefined): Row {
  if (row === undefined || row === null) throw new Error('a row that must exist is missing')
  return row
}
