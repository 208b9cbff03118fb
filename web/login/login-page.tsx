import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { request, resource, type One } from '../api/client.ts'
import { accountQuery } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { loginParameters } from '../searches.ts'

type Code = { readonly 'redirect-to': string }

/** Asks a person whether a program on their machine may get a token of theirs. */
export function LoginPage() {
  const search = useSearch({ from: '/shell/~/login' })
  const account = useQuery(accountQuery)
  const [isRefused, setRefused] = useState(false)
  const consent = useChange({
    mutationFn: () => {
      const attributes = Object.fromEntries(
        loginParameters.map((name) => [name.replaceAll('_', '-'), search[name] ?? '']),
      )
      return request<One<Code>>('/account/login-codes', {
        method: 'POST',
        body: resource('login-codes', attributes),
      })
    },
    gcTime: 0,
    onSuccess: ({ data }) => window.location.assign(data.attributes['redirect-to']),
  })
  if (isRefused) {
    return (
      <>
        <h1>The program got no token</h1>
        <p>
          The program in the terminal still waits. Press Ctrl-C there. Terraform goes on waiting all the same:
          close its terminal.
        </p>
      </>
    )
  }
  return (
    <>
      <h1>Log in from the terminal</h1>
      <div className={styles.notice}>
        <p>
          A program on your machine, started with <code>tofu login</code> or <code>terraform login</code>,
          asks for a token. The token acts as you, <strong>{account.data?.data.attributes.username}</strong>,
          may do what you may do, and is kept on that machine. You find it under Your tokens and may revoke it
          there.
        </p>
        <p>Go on only if you have just started that program yourself.</p>
        <Button disabled={consent.isPending} onClick={() => setRefused(true)}>
          No
        </Button>{' '}
        <Button
          kind="main"
          disabled={consent.isPending || consent.isSuccess}
          onClick={() => consent.mutate()}
        >
          Give it a token
        </Button>
      </div>
      {consent.isError ? <Failed error={consent.error} /> : null}
    </>
  )
}
