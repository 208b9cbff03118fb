import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useChange } from '../api/change.ts'
import { linkedAccount, signInByLink } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
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
  /** Names the link in the cache, where the secret must not be. */
  const [taken, setTaken] = useState(1)
  const [differs, setDiffers] = useState(false)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const title = invited === true ? 'Create your account' : 'Set your password'
  useTitle(title)
  const { mutate, reset, error, isPending } = useChange({
    mutationFn: signInByLink,
    gcTime: 0,
    onSuccess: async () => {
      queries.clear()
      // The link works once, so Back does not lead here.
      await navigate({ to: '/', search: { home: true }, replace: true })
    },
  })
  const account = useQuery({
    queryKey: ['password-link', taken],
    queryFn: () => linkedAccount(secret),
    // Not again after it was used.
    enabled: secret !== '' && !isPending,
    staleTime: Infinity,
    gcTime: 0,
  })
  useEffect(() => {
    // A link that is opened in this tab differs only behind the #, so the browser loads nothing.
    const take = () => {
      setSecret(takeSecret())
      setTaken((count) => count + 1)
      reset()
    }
    window.addEventListener('hashchange', take)
    return () => window.removeEventListener('hashchange', take)
  }, [reset])

  const submit = (textOf: TextOf) => {
    const password = textOf('password')
    const isSame = password === textOf('again')
    setDiffers(!isSame)
    reset()
    if (!isSame) return
    mutate({
      link: secret,
      password,
      ...(invited === true
        ? { username: textOf('username') }
        : { 'keep-tokens': textOf('end-tokens') === '' }),
    })
  }

  return (
    <main className={styles.page}>
      <h1>{title}</h1>
      {secret === '' ? (
        <p>This address needs the rest of its link. Open the whole link again, or ask for another one.</p>
      ) : (
        <Form onSubmit={submit}>
          {account.data === undefined ? null : (
            <p>
              For <strong dir="auto">{account.data.username ?? account.data.email}</strong>
              {account.data.username === null || account.data.email === null ? null : (
                <span dir="auto"> ({account.data.email})</span>
              )}
              .
            </p>
          )}
          <Checked error={error ?? account.error}>
            {invited === true ? (
              <Field label="User name" name="username" autoComplete="username" required autoFocus />
            ) : null}
            <NewPasswordFields differs={differs} autoFocus={invited !== true} />
            {invited === true ? null : (
              <label>
                <input type="checkbox" name="end-tokens" defaultChecked /> end all tokens of the account, if
                it had a password before: somebody else may have made some
              </label>
            )}
            <Button type="submit" kind="main" disabled={isPending}>
              {invited === true ? 'Create the account and sign in' : 'Set password and sign in'}
            </Button>
          </Checked>
        </Form>
      )}
    </main>
  )
}
