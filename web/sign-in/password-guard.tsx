import { useEffect, useRef, useState } from 'react'
import { useChange } from '../api/change.ts'
import { onPasswordNeeded, request, resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Field } from '../kit/field.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'

/** What waits for the password, and is told whether it was right. */
type Waiting = { readonly promise: Promise<boolean>; readonly resolve: (isRight: boolean) => void }

/**
 * Asks for the password in a dialog when the server wants it again before something that outlasts the session. The request then
 * goes on.
 */
export function PasswordGuard() {
  const [waiting, setWaiting] = useState<Waiting>()
  const present = useRef<Waiting>(undefined)
  useEffect(
    () =>
      onPasswordNeeded(() => {
        present.current ??= Promise.withResolvers<boolean>()
        setWaiting(present.current)
        return present.current.promise
      }),
    [],
  )
  if (waiting === undefined) return null
  const end = (isRight: boolean) => {
    present.current = undefined
    setWaiting(undefined)
    waiting.resolve(isRight)
  }
  return <AskPassword onEnd={end} />
}

function AskPassword({ onEnd }: { readonly onEnd: (isRight: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const check = useChange({
    mutationFn: (password: string) =>
      request('/account/password-checks', {
        method: 'POST',
        body: resource('password-checks', { password }),
      }),
    gcTime: 0,
    onSuccess: () => onEnd(true),
  })
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby="password-again"
      onClose={() => onEnd(false)}
    >
      <Form onSubmit={(textOf) => check.mutate(textOf('password'))}>
        <h2 id="password-again">Your password, again</h2>
        <p>
          What you are about to do outlasts your session, so somebody who found this browser open must not do
          it.
        </p>
        <Checked error={check.error}>
          <Field
            label="Your password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
          />
        </Checked>
        <p>
          <Button disabled={check.isPending} onClick={() => onEnd(false)}>
            Not now
          </Button>{' '}
          <Button type="submit" kind="main" disabled={check.isPending}>
            Go on
          </Button>
        </p>
      </Form>
    </dialog>
  )
}
