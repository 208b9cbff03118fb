import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { onUnauthorized } from '../api/client.ts'
import { accountQuery, onSessionNews } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { SignInForm } from './sign-in-form.tsx'
import shape from './sign-in.module.css'

/** Another page, and nothing of this one stays in memory. */
const leave = () => window.location.assign('/app')

/**
 * Covers the page with a dialog when the server no longer accepts the session. After the same person has signed in again,
 * here or in another tab, the page goes on with all that was typed. If it is somebody else, the page is left.
 *
 * @param onSignedOut somebody signed out in another tab
 */
export function SessionGuard({ onSignedOut }: { readonly onSignedOut: () => void }) {
  const [reason, setReason] = useState<string>()
  const account = useQuery(accountQuery).data?.data
  const queries = useQueryClient()
  const router = useRouter()
  const goOn = useCallback(
    async (userId: string) => {
      if (userId !== account?.id) return leave()
      if (reason === undefined) return undefined
      setReason(undefined)
      await queries.invalidateQueries()
      return router.invalidate()
    },
    [account?.id, reason, queries, router],
  )
  useEffect(
    () =>
      onUnauthorized(({ problems }) =>
        setReason((before) => before ?? problems[0]?.detail ?? 'your session has ended'),
      ),
    [],
  )
  useEffect(
    () => onSessionNews(({ signedIn }) => (signedIn === undefined ? onSignedOut() : void goOn(signedIn))),
    [goOn, onSignedOut],
  )
  if (reason === undefined) return null
  return <SignInAgain reason={reason} username={account?.attributes.username} onSignedIn={goOn} />
}

function SignInAgain({
  reason,
  username,
  onSignedIn,
}: {
  readonly reason: string
  readonly username: string | undefined
  readonly onSignedIn: (userId: string) => Promise<void>
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
    // The name is there already.
    dialog.current?.querySelector<HTMLInputElement>('[name=password]')?.focus()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${shape.cover}`}
      aria-labelledby="sign-in-again"
      closedby="none"
      // Nothing but a sign-in uncovers the page.
      onCancel={(event) => event.preventDefault()}
      onClose={() => dialog.current?.showModal()}
    >
      <h2 id="sign-in-again">Sign in again</h2>
      <p>The server says: {reason}. What you have typed on the page is still there.</p>
      <SignInForm login={username} onSignedIn={onSignedIn} />
      <p>
        <Button onClick={leave}>Leave the page</Button>
      </p>
    </dialog>
  )
}
