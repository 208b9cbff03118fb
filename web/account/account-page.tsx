import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { accountQuery } from '../api/session.ts'
import { Answered } from '../kit/states.tsx'
import { PasswordForm } from './password-form.tsx'
import { SessionsPanel } from './sessions-panel.tsx'
import { ThemeChoice } from './theme-choice.tsx'

/** One's own account: sign-ins and password. */
export function AccountPage() {
  const account = useQuery(accountQuery)
  return (
    <>
      <h1>Your account</h1>
      <Answered query={account}>
        {({ data: { id, attributes } }) => (
          <>
            <p>
              <span dir="auto">{attributes.username}</span> · <Link to="/settings/tokens">Your tokens</Link>
            </p>
            <ThemeChoice />
            <h2>Sign-ins</h2>
            <SessionsPanel userId={id} />
            <h2>Password</h2>
            <PasswordForm />
          </>
        )}
      </Answered>
    </>
  )
}
