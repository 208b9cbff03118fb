import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { SignInForm } from './sign-in-form.tsx'
import styles from './sign-in.module.css'

export function SignInPage() {
  const { next } = useSearch({ from: '/~/sign-in' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  // Not the name of what was shown before, which may be somebody else's.
  useEffect(() => {
    document.title = 'Sign in · Purser'
  }, [])
  const go = async () => {
    queries.clear()
    await navigate({ to: next ?? '/' })
  }
  return (
    <main className={styles.page}>
      <h1>Sign in to Purser</h1>
      <SignInForm onSignedIn={go} />
    </main>
  )
}
