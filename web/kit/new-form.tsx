import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Checked } from './checked.tsx'
import { Form, type TextOf } from './form.tsx'
import styles from './kit.module.css'

/**
 * A form that creates something. It opens by its title, such as "New team".
 * @param onSubmit gets what reads the fields, and what empties the form
 * @param children the fields
 */
export function NewForm({
  title,
  creation,
  done,
  isOpen,
  onSubmit,
  onToggle,
  children,
}: {
  readonly title: string
  readonly creation: { readonly isPending: boolean; readonly error: unknown }
  /** Said after a success, where the page stays. */
  readonly done?: string
  /** Whether it is open at first. */
  readonly isOpen?: boolean
  readonly onSubmit: (textOf: TextOf, empty: () => void) => void
  readonly onToggle?: (isOpen: boolean) => void
  readonly children: ReactNode
}) {
  return (
    <details className={styles.new} open={isOpen} onToggle={(event) => onToggle?.(event.currentTarget.open)}>
      <summary>{title}</summary>
      <Form className={styles.inline} aria-label={title} onSubmit={onSubmit}>
        <Checked error={creation.error}>
          {children}
          <Button type="submit" kind="main" disabled={creation.isPending}>
            Create
          </Button>
          {done === undefined ? null : <p role="status">{done}</p>}
        </Checked>
      </Form>
    </details>
  )
}
