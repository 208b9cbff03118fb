import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { request, resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
import { NewPasswordFields } from '../sign-in/new-password-fields.tsx'

type Passwords = {
  readonly current_password: string
  readonly password: string
  readonly password_confirmation: string
  readonly 'end-tokens': boolean
}

/** Changes the password, which ends all other sessions. */
export function PasswordForm() {
  const [differs, setDiffers] = useState(false)
  const queries = useQueryClient()
  const save = useChange({
    mutationFn: (passwords: Passwords) =>
      request('/account/password', { method: 'PATCH', body: resource('users', passwords) }),
    gcTime: 0,
    onSuccess: () =>
      Promise.all(['sessions', 'tokens'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  })
  const submit = (textOf: TextOf, empty: () => void) => {
    const passwords = {
      current_password: textOf('current_password'),
      password: textOf('password'),
      password_confirmation: textOf('again'),
      'end-tokens': textOf('end-tokens') !== '',
    }
    const isSame = passwords.password === passwords.password_confirmation
    setDiffers(!isSame)
    if (isSame) save.mutate(passwords, { onSuccess: empty })
  }
  return (
    <Form onSubmit={submit} aria-label="Password">
      <Checked error={save.error}>
        <Field
          label="Present password"
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
        />
        <NewPasswordFields differs={differs} />
        <label>
          <input type="checkbox" name="end-tokens" /> end all your tokens, too: what uses them stops working
        </label>
      </Checked>
      <p role="status">
        {save.isSuccess
          ? `The password is changed. All other sessions have ended${save.variables['end-tokens'] ? ', and so have all tokens' : ''}.`
          : ''}
      </p>
      <Button type="submit" kind="main" disabled={save.isPending}>
        Change the password
      </Button>
    </Form>
  )
}
