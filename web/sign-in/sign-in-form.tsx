import { useChange } from '../api/change.ts'
import { signIn } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
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
  const attempt = useChange({
    mutationFn: async (textOf: TextOf) => onSignedIn(await signIn(textOf('login'), textOf('password'))),
    gcTime: 0,
  })
  return (
    <>
      <Form aria-label="Sign in" onSubmit={(textOf) => attempt.mutate(textOf)}>
        <Field
          label="User name or email"
          name="login"
          autoComplete="username"
          required
          defaultValue={login}
          autoFocus={login === undefined}
        />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" kind="main" disabled={attempt.isPending}>
          Sign in
        </Button>
      </Form>
      {attempt.isError ? <Failed error={attempt.error} /> : null}
    </>
  )
}
