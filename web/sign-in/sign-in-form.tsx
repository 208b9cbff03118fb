import { useState, type FormEvent } from 'react'
import { signIn } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { textsOf } from '../kit/form.ts'
import { Failed } from '../kit/states.tsx'

/** Asks who somebody is. Says why, in the server's words, if they are not let in. */
export function SignInForm({
  login,
  onSignedIn,
}: {
  /** The name that the form begins with. */
  readonly login?: string | undefined
  readonly onSignedIn: (userId: string) => Promise<void>
}) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    setBusy(true)
    setError(undefined)
    try {
      await onSignedIn(await signIn(text('login'), text('password')))
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <form onSubmit={(event) => void submit(event)} aria-label="Sign in">
        <Field
          label="User name or email"
          name="login"
          autoComplete="username"
          required
          defaultValue={login}
          autoFocus={login === undefined}
        />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" kind="main" disabled={isBusy}>
          Sign in
        </Button>
      </form>
      {error === undefined ? null : <Failed error={error} />}
    </>
  )
}
