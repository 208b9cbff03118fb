import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { signIn } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Failed } from '../kit/states.tsx'
import { textsOf } from './form.ts'
import styles from './sign-in.module.css'

export function SignInPage() {
  const { next } = useSearch({ from: '/~/sign-in' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    setBusy(true)
    setError(undefined)
    try {
      await signIn(text('login'), text('password'))
      queries.clear()
      await navigate({ to: next ?? '/' })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  return (
    <main className={styles.page}>
      <h1>Sign in to Purser</h1>
      <form onSubmit={(event) => void submit(event)}>
        <Field label="User name or email" name="login" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" kind="main" disabled={isBusy}>
          Sign in
        </Button>
      </form>
      {error === undefined ? null : <Failed error={error} />}
    </main>
  )
}
