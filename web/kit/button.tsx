import type { ButtonHTMLAttributes } from 'react'
import styles from './kit.module.css'

type Props = ButtonHTMLAttributes<HTMLButtonElement> & { readonly kind?: 'main' }

export function Button({ kind, type = 'button', ...rest }: Props) {
  return <button {...rest} type={type} className={styles.button} data-kind={kind} />
}
