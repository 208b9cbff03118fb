import type { ReactNode } from 'react'
import type { Page } from '../api/client.ts'
import styles from './kit.module.css'
import { EmptyPage, Pager } from './pager.tsx'
import { Answered, foundInWords, useLasting, type Query } from './states.tsx'
import { Table } from './table.tsx'

/**
 * A page of a list as a table, with the way to the other pages; or that it is loading, failed or empty.
 * @param isCounted whether the number of all of them is shown
 * @param children makes the rows
 */
export function PagedTable<List extends Page<unknown>>({
  query,
  columns,
  isCounted = false,
  empty,
  hidden,
  page,
  onShow,
  children,
}: {
  readonly query: Query<List>
  readonly columns: readonly string[]
  readonly isCounted?: boolean
  readonly empty: ReactNode
  /** Said in place of a 404 that the reader may expect. */
  readonly hidden?: ReactNode
  readonly page: number
  readonly onShow: (page: number) => void
  readonly children: (list: List) => ReactNode
}) {
  const { data: shown, isPlaceholderData: isBusy = false } = query
  const isSlow = useLasting(isBusy)
  const total = shown?.meta.pagination['total-count'] ?? 0
  const count = shown === undefined || !isCounted ? '' : foundInWords(total)
  return (
    <>
      {/* Said to readers who do not see that a search has changed the list. That there is nothing is said below, too. */}
      <p role="status" className={total > 0 && count !== '' ? styles.dim : styles.unseen}>
        {isSlow && isCounted ? 'Loading …' : count}
      </p>
      <Answered
        query={query}
        isEmpty={({ data }) => data.length === 0}
        empty={<EmptyPage page={page} empty={empty} onShow={onShow} />}
        hidden={hidden}
      >
        {(list) => (
          <>
            <Table columns={columns}>{children(list)}</Table>
            <Pager page={page} pagination={list.meta.pagination} isBusy={isBusy} onShow={onShow} />
          </>
        )}
      </Answered>
    </>
  )
}
