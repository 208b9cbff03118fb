import { useEffect, useRef, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { textsOf } from './form.ts'
import styles from './kit.module.css'
import { Failed } from './states.tsx'

/**
 * A form that changes settings, for those who may. Others read the fields and who may change them. If somebody else
 * changes the same thing meanwhile, the fields follow, except those in which something was typed.
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
  const form = useRef<HTMLFormElement>(null)
  // A field follows its default value until something is typed in it. What React sets at first counts as typed.
  useEffect(() => form.current?.reset(), [])
  useEffect(() => {
    // What was typed is saved, so that it may follow the server again.
    if (change.isSuccess) form.current?.reset()
  }, [change.isSuccess])
  return (
    <form
      ref={form}
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
