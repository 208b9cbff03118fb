import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** Leads to the pages of a list. Nothing if there is one page. */
export function Pager({
  page,
  next,
  onShow,
}: {
  readonly page: number
  /** The number of the next page; null if this is the last. */
  readonly next: number | null
  readonly onShow: (page: number) => void
}) {
  if (page === 1 && next === null) return null
  return (
    <nav aria-label="Pages">
      <Button disabled={page === 1} onClick={() => onShow(page - 1)}>
        Previous
      </Button>{' '}
      <Button disabled={next === null} onClick={() => onShow(page + 1)}>
        Next
      </Button>
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
