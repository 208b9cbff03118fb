import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { textsOf } from './form.ts'
import styles from './kit.module.css'
import { Failed } from './states.tsx'

/**
 * A form that changes settings, for those who may. Others read the fields and who may change them.
 * @param onSubmit gets a function that reads a field by its name
 * @param children the fields
 */
export function SettingsForm({
  change,
  mayChange,
  whoMay,
  onSubmit,
  children,
}: {
  readonly change: {
    readonly isPending: boolean
    readonly isSuccess: boolean
    readonly isError: boolean
    readonly error: unknown
  }
  readonly mayChange: boolean
  /** Such as "An owner". */
  readonly whoMay: string
  readonly onSubmit: (text: (name: string) => string) => void
  readonly children: ReactNode
}) {
  return (
    <form
      aria-label="Settings"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(textsOf(event.currentTarget))
      }}
    >
      {mayChange ? null : <p className={styles.dim}>You may not change these. {whoMay} may.</p>}
      {children}
      {change.isError ? <Failed error={change.error} /> : null}
      <p role="status">{change.isSuccess ? 'Saved.' : ''}</p>
      {mayChange ? (
        <Button type="submit" kind="main" disabled={change.isPending}>
          Save
        </Button>
      ) : null}
    </form>
  )
}
