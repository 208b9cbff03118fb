import type { ReactNode } from 'react'
import styles from './kit.module.css'

/**
 * What a page offers to those who may do it. Everybody else reads who may, so that they know whom to ask.
 */
export function Offer({
  may,
  who,
  to,
  children,
}: {
  /** Undefined until it is known. */
  readonly may: boolean | undefined
  /** Such as "An owner". */
  readonly who: string
  /** Such as "create a project". */
  readonly to: string
  readonly children?: ReactNode
}) {
  if (may === true)
    return (
      <div className={styles.offer} data-offer={to}>
        {children}
      </div>
    )
  return may === false ? <WhoMay who={who} to={to} /> : null
}

/** The line itself, where the page shows something else to those who may not. */
export function WhoMay({ who, to }: { readonly who: string; readonly to: string }) {
  return (
    <p className={styles.dim} data-kept={to}>
      {who} may {to}.
    </p>
  )
}
