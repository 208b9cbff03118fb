/** SQLite takes 32,766 values in a statement, PostgreSQL 65,535. */
const VALUES_A_STATEMENT = 5_000

/** The rows for a list of values of any length, a statement for each slice of it. */
export async function inSlices<Value, Row>(
  values: readonly Value[],
  read: (slice: readonly Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  if (values.length === 0) return []
  if (values.length <= VALUES_A_STATEMENT) return read(values)
  const rows: Row[] = []
  for (let from = 0; from < values.length; from += VALUES_A_STATEMENT) {
    for (const row of await read(values.slice(from, from + VALUES_A_STATEMENT))) rows.push(row)
  }
  return rows
}
