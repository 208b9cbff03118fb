import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'

/** The server says no to a shorter one. */
const MIN_LENGTH = 8

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
      <p className={styles.dim}>At least {MIN_LENGTH} characters. One that many people use is refused.</p>
      <Field
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={MIN_LENGTH}
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
