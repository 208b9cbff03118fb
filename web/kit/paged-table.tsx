import type { ReactNode } from 'react'
import type { Page } from '../api/client.ts'
import styles from './kit.module.css'
import { EmptyPage, Pager } from './pager.tsx'
import { Answered, type Query } from './states.tsx'
import { Table } from './table.tsx'

/**
 * A page of a list as a table, with the way to the other pages; or that it is loading, failed or empty.
 * @param counted what the list has, after the number of all of them, such as "users"; without it no number is shown
 * @param children makes the rows
 */
export function PagedTable<List extends Page<unknown>>({
  query,
  columns,
  counted,
  empty,
  hidden,
  page,
  onShow,
  children,
}: {
  readonly query: Query<List>
  readonly columns: readonly string[]
  readonly counted?: string
  readonly empty: ReactNode
  /** Said in place of a 404 that the reader may expect. */
  readonly hidden?: ReactNode
  readonly page: number
  readonly onShow: (page: number) => void
  readonly children: (list: List) => ReactNode
}) {
  return (
    <Answered
      query={query}
      isEmpty={({ data }) => data.length === 0}
      empty={<EmptyPage page={page} empty={empty} onShow={onShow} />}
      hidden={hidden}
    >
      {(list) => {
        const { pagination } = list.meta
        return (
          <>
            {counted === undefined ? null : (
              <p className={styles.dim}>
                {pagination['total-count'].toLocaleString('en')} {counted}
              </p>
            )}
            <Table columns={columns}>{children(list)}</Table>
            <Pager page={page} next={pagination['next-page']} onShow={onShow} />
          </>
        )
      }}
    </Answered>
  )
}
