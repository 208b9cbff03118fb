/** A range of rows in an ordered list, counted from the nearer end. */
type Window = { readonly limit: number; readonly offset: number; readonly isFromEnd: boolean }

/** "desc" is against the order of the list. */
export type ReadRange<Row> = (
  direction: 'asc' | 'desc',
  range: { readonly limit: number; readonly offset: number },
) => Promise<Row[]>

/**
 * How to read up to `size` rows from `offset` on in an ordered list of `total` rows. It counts from the nearer end, so
 * the last page costs as much as the first. Undefined if there are no rows.
 */
function windowOf(total: number, offset: number, size: number): Window | undefined {
  const limit = Math.min(size, total - offset)
  if (limit <= 0) return undefined
  const behind = total - offset - limit
  return behind < offset ? { limit, offset: behind, isFromEnd: true } : { limit, offset, isFromEnd: false }
}

/**
 * Reads up to `size` rows from `offset` on in an ordered list of `total` rows, from the nearer end.
 *
 * @param read reads a range of the list in this direction
 */
export async function fromNearerEnd<Row>(
  total: number,
  offset: number,
  size: number,
  read: ReadRange<Row>,
): Promise<Row[]> {
  const window = windowOf(total, offset, size)
  if (window === undefined) return []
  const { isFromEnd, ...range } = window
  const rows = await read(isFromEnd ? 'desc' : 'asc', range)
  return isFromEnd ? rows.toReversed() : rows
}

/** How many rows the database passes before it comes to a page of a list whose total is known. */
export function rowsBefore(page: { readonly number: number; readonly size: number }, total: number): number {
  return windowOf(total, (page.number - 1) * page.size, page.size)?.offset ?? 0
}
