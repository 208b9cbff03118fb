/** Rows of an ordered list: so many after so many others, counted from its end where that is nearer. */
export type Window = { readonly limit: number; readonly offset: number; readonly isFromEnd: boolean }

/**
 * How to read the rows from `offset` on, `size` at the most, of an ordered list of `total`: from whichever end is nearer, so
 * that the last page costs what the first does. Undefined when there are none.
 */
export function windowOf(total: number, offset: number, size: number): Window | undefined {
  const limit = Math.min(size, total - offset)
  if (limit <= 0) return undefined
  const behind = total - offset - limit
  return behind < offset ? { limit, offset: behind, isFromEnd: true } : { limit, offset, isFromEnd: false }
}
