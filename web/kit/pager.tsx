import type { ReactNode } from 'react'
import type { Page } from '../api/client.ts'
import { Button } from './button.tsx'
import { useLasting } from './states.tsx'

/** Leads to the pages of a list. Nothing if there is one page. */
export function Pager({
  page,
  pagination,
  isBusy,
  onShow,
}: {
  readonly page: number
  /** Of the page that is shown. Its next page is null if it is the last. */
  readonly pagination: Page<unknown>['meta']['pagination']
  /** Whether the page before is shown until this one has arrived. */
  readonly isBusy: boolean
  readonly onShow: (page: number) => void
}) {
  const isSlow = useLasting(isBusy)
  const { 'current-page': shown, 'next-page': next, 'total-pages': last } = pagination
  if (page === 1 && shown === 1 && next === null) return null
  return (
    <nav aria-label="Pages">
      <Button repeats disabled={page === 1 || isBusy} onClick={() => onShow(page - 1)}>
        Previous
      </Button>{' '}
      <Button repeats disabled={next === null || isBusy} onClick={() => onShow(page + 1)}>
        Next
      </Button>{' '}
      <span role="status">
        {isSlow ? 'Loading …' : `page ${shown.toLocaleString('en')} of ${last.toLocaleString('en')}`}
      </span>
    </nav>
  )
}

/** What an empty page of a list says: that there is nothing at all, or the way back to what there is. */
export function EmptyPage({
  page,
  empty,
  onShow,
}: {
  readonly page: number
  /** Shown if there is none at all. */
  readonly empty: ReactNode
  readonly onShow: (page: number) => void
}) {
  if (page === 1) return empty
  return (
    <>
      There is nothing on page {page.toLocaleString('en')} any more.{' '}
      <Button onClick={() => onShow(1)}>Show the first page</Button>
    </>
  )
}
