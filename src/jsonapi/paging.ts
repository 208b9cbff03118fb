/** The requested page of a list. */
export type Page = { readonly number: number; readonly size: number }

export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 100

/** The paging part of a list document. `total` counts only what the caller may see. */
export type Paging = {
  readonly links: Record<string, string | null>
  readonly pagination: Record<string, number | null>
  /** Members of `meta` beside `pagination`. */
  readonly meta?: Readonly<Record<string, number | null>>
}

/**
 * @param path the list's path, from /api/v2
 * @param query the other parameters of the request, which are kept in every link
 */
export function pagingOf(
  path: string,
  query: readonly (readonly [string, string])[],
  page: Page,
  total: number,
): Paging {
  const last = Math.max(1, Math.ceil(total / page.size))
  const previous = page.number > 1 ? Math.min(page.number - 1, last) : null
  const next = page.number < last ? page.number + 1 : null
  const given = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}&`)
    .join('')
  const link = (number: number) => `${path}?${given}page%5Bnumber%5D=${number}&page%5Bsize%5D=${page.size}`
  return {
    links: {
      self: link(page.number),
      first: link(1),
      prev: previous === null ? null : link(previous),
      next: next === null ? null : link(next),
      last: link(last),
    },
    pagination: {
      'current-page': page.number,
      'page-size': page.size,
      'prev-page': previous,
      'next-page': next,
      'total-pages': last,
      'total-count': total,
    },
  }
}

/** Paging of a list that is sent whole. `total` is greater than `given` if a limit cut the list. */
export function pagingOfWhole(
  path: string,
  query: readonly (readonly [string, string])[],
  given: number,
  total: number,
): Paging {
  const text = query
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
  const self = text === '' ? path : `${path}?${text}`
  return {
    links: { self, first: self, prev: null, next: null, last: self },
    pagination: {
      'current-page': 1,
      'page-size': given,
      'prev-page': null,
      'next-page': null,
      'total-pages': 1,
      'total-count': total,
    },
  }
}
