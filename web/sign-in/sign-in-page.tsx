import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useTitle } from '../kit/title.ts'
import { goingOn } from '../searches.ts'
import { SignInForm } from './sign-in-form.tsx'
import styles from './sign-in.module.css'

export function SignInPage() {
  const { next } = goingOn(useSearch({ from: '/~/sign-in' }))
  const navigate = useNavigate()
  const queries = useQueryClient()
  useTitle('Sign in')
  const go = async () => {
    queries.clear()
    // Back leads to what was before, not to this form.
    await (next === undefined || next === '/'
      ? navigate({ to: '/', search: { home: true }, replace: true })
      : navigate({ to: next, replace: true }))
  }
  return (
    <main className={styles.page}>
      <h1>Sign in to Purser</h1>
      <SignInForm onSignedIn={go} />
      <p>
        No account, or no password? Ask a site administrator of this server for a link with which you set a
        password. They make it under Administration, or with <code>purser user password-link NAME</code>.
      </p>
    </main>
  )
}
