import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState, type FormEvent } from 'react'
import { signInByLink } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Field } from '../kit/field.tsx'
import { textsOf } from '../kit/form.ts'
import { useTitle } from '../kit/title.ts'
import { NewPasswordFields } from './new-password-fields.tsx'
import styles from './sign-in.module.css'

/** The secret of the link. It leaves the address at once, so that it is in no history. */
function takeSecret(): string {
  const { hash, pathname, search } = window.location
  const secret = hash.slice(1)
  if (secret !== '') window.history.replaceState(null, '', pathname + search)
  return secret
}

/** Sets the first password or another one. Somebody who is invited chooses a user name here, too. */
export function WelcomePage() {
  const { invited } = useSearch({ from: '/~/welcome' })
  const [secret, setSecret] = useState(takeSecret)
  const [error, setError] = useState<unknown>(null)
  const [differs, setDiffers] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const title = invited === true ? 'Create your account' : 'Set your password'
  useTitle(title)
  useEffect(() => {
    // A link that is opened in this tab differs only behind the #, so the browser loads nothing.
    const take = () => {
      setSecret(takeSecret())
      setError(null)
    }
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [])

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    const password = text('password')
    setDiffers(password !== text('again'))
    setError(null)
    if (password !== text('again')) return
    setBusy(true)
    try {
      await signInByLink({
        link: secret,
        password,
        ...(invited === true ? { username: text('username') } : {}),
      })
      queries.clear()
      // The link works once, so Back does not lead here.
      await navigate({ to: '/', replace: true })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className={styles.page}>
      <h1>{title}</h1>
      {secret === '' ? (
        <p>This address needs the rest of its link. Open the whole link again, or ask for another one.</p>
      ) : (
        <form onSubmit={(event) => void submit(event)}>
          <Checked error={error}>
            {invited === true ? (
              <Field label="User name" name="username" autoComplete="username" required autoFocus />
            ) : null}
            <NewPasswordFields differs={differs} autoFocus={invited !== true} />
            <Button type="submit" kind="main" disabled={isBusy}>
              {invited === true ? 'Create the account and sign in' : 'Set password and sign in'}
            </Button>
          </Checked>
        </form>
      )}
    </main>
  )
}
