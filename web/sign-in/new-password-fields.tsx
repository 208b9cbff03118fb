import { Field } from '../kit/field.tsx'

/** A new password, twice, as `password` and `again`. */
export function NewPasswordFields({
  differs,
  autoFocus = false,
}: {
  readonly differs: boolean
  readonly autoFocus?: boolean
}) {
  return (
    <>
      <Field
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={8}
        required
        autoFocus={autoFocus}
      />
      <Field
        label="New password, again"
        name="again"
        type="password"
        autoComplete="new-password"
        required
        problem={differs ? 'is not the same' : undefined}
      />
    </>
  )
}
