import type { ButtonHTMLAttributes } from 'react'
import styles from './kit.module.css'

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { readonly kind?: 'main' }

/**
 * A button. While it is disabled it does nothing, and a form is not sent with it, but it keeps the focus: browsers take the
 * focus away from what has the attribute `disabled`.
 */
export function Button({ kind, type = 'button', disabled = false, onClick, ...rest }: Props) {
  return (
    <button
      {...rest}
      type={type}
      className={styles.button}
      data-kind={kind}
      aria-disabled={disabled || undefined}
      onClick={disabled ? (event) => event.preventDefault() : onClick}
    />
  )
}
