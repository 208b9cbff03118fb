import { createContext, use, useEffect, useState, type ReactNode } from 'react'
import { ApiError, isStatus } from '../api/errors.ts'
import { Button } from './button.tsx'
import styles from './kit.module.css'

const QUIET_MS = 150

/** Whether something has lasted for a moment, so that quick answers do not flicker. */
export function useLasting(isSo: boolean): boolean {
  const [hasLasted, setLasted] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLasted(isSo), isSo ? QUIET_MS : 0)
    return () => clearTimeout(timer)
  }, [isSo])
  return isSo && hasLasted
}

/** Nothing for a moment, then that it is loading. */
export function Loading() {
  const isShown = useLasting(true)
  return (
    <p className={styles.dim} aria-busy="true">
      {isShown ? 'Loading …' : ''}
    </p>
  )
}

/** How many there are, for every list. */
export const foundInWords = (total: number) => `${total.toLocaleString('en')} found`

/** What would be here, and the next step. */
export function Empty({ children }: { readonly children: ReactNode }) {
  return <div className={styles.notice}>{children}</div>
}

/** Where to ask somebody who may give access; undefined if the reader may not know. */
export const AskAt = createContext<string | undefined>(undefined)

/** Why something could not be shown or done, in the server's words. */
export function Failed({
  error,
  id,
  onRetry,
}: {
  readonly error: unknown
  /** For what refers to the words. */
  readonly id?: string
  readonly onRetry?: () => void
}) {
  const isNotFound = isStatus(error, 404)
  const email = use(AskAt)
  return (
    <div className={styles.notice} data-kind="bad" role="alert">
      <p id={id}>
        {!isNotFound ? (
          messageOf(error)
        ) : email === undefined ? (
          'Not there, or not for you. Ask an owner of the organization, with this id.'
        ) : (
          <>
            Not there, or not for you. Ask an owner of the organization, at{' '}
            <a href={`mailto:${encodeURIComponent(email)}`}>{email}</a>, with this id.
          </>
        )}
      </p>
      {error instanceof ApiError && error.requestId !== '' ? (
        <p>
          Request <code className={styles.mono}>{error.requestId}</code>
        </p>
      ) : null}
      {onRetry === undefined || isNotFound ? null : <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

export type Query<Data> = {
  readonly data: Data | undefined
  readonly error: unknown
  readonly isError: boolean
  /** Whether the data is an earlier answer to another question, shown until the answer is there. */
  readonly isPlaceholderData?: boolean
  readonly refetch: () => Promise<unknown>
}

/** Shows the answer of a query, or that it is loading, failed or empty. The last answer stays if a newer one fails. */
export function Answered<Data>({
  query: { data, error, isError, refetch },
  isEmpty,
  empty,
  hidden,
  children,
}: {
  readonly query: Query<Data>
  readonly isEmpty?: (data: Data) => boolean
  readonly empty?: ReactNode
  /** Said in place of a 404 that the reader may expect. */
  readonly hidden?: ReactNode
  readonly children: (data: Data) => ReactNode
}) {
  const isExpected = hidden !== undefined && isStatus(error, 404)
  return (
    <>
      {isError && !isExpected ? <Failed error={error} onRetry={() => void refetch()} /> : null}
      {isExpected ? (
        <Empty>{hidden}</Empty>
      ) : data === undefined ? (
        isError ? null : (
          <Loading />
        )
      ) : isEmpty?.(data) === true ? (
        <Empty>{empty}</Empty>
      ) : (
        children(data)
      )}
    </>
  )
}

/** Why something failed, in the server's words. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError))
    return 'The server could not be reached. Check your connection, and try again.'
  return error.message
}
