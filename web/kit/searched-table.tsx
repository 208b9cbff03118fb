import type { ComponentProps, ReactNode } from 'react'
import type { Page } from '../api/client.ts'
import { PagedTable } from './paged-table.tsx'
import { SearchField } from './search-field.tsx'

/** The search and the page of a list, as the address of a page of this interface has them. */
export type Search = { q?: string | undefined; page?: number | undefined }

/**
 * A list as a table of pages, with a search above it.
 * @param label says what the search finds
 * @param empty shown if there is none at all
 * @param unmatched shown if there is none that the search finds
 * @param onShow takes the search and the page to the address
 */
export function SearchedTable<List extends Page<unknown>>({
  label,
  q,
  empty,
  unmatched,
  onShow,
  ...table
}: Omit<ComponentProps<typeof PagedTable<List>>, 'onShow'> & {
  readonly label: string
  readonly q: string
  readonly unmatched: ReactNode
  readonly onShow: (search: Search) => void
}) {
  return (
    <>
      <SearchField label={label} q={q} onSearch={(text) => onShow({ q: text || undefined })} />
      <PagedTable
        {...table}
        empty={q === '' ? empty : unmatched}
        onShow={(page) => onShow({ q: q || undefined, page })}
      />
    </>
  )
}
