import { useId, type InputHTMLAttributes, type KeyboardEvent } from 'react'
import { useRefused } from './checked.tsx'
import styles from './kit.module.css'

type Props = InputHTMLAttributes<HTMLInputElement> & {
  readonly label: string
  readonly problem?: string | undefined
}

/** A search finds while it is typed. Enter would send the form around it. */
function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault()
}

/** A text field with its label, and what is wrong with it. */
export function Field({ label, problem, ...rest }: Props) {
  const id = useId()
  const refused = useRefused(rest.name)
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <input
        {...(rest.type === 'search' ? { onKeyDown: ignoreEnter } : {})}
        {...rest}
        id={id}
        aria-invalid={problem !== undefined || refused !== undefined}
        aria-describedby={problem === undefined ? refused : `${id}-problem`}
      />
      {problem === undefined ? null : (
        <p id={`${id}-problem`} className={styles.problem} role="alert">
          ✗ {problem}
        </p>
      )}
    </div>
  )
}
