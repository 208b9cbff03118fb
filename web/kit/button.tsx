import { useRef, type ButtonHTMLAttributes, type MouseEvent } from 'react'
import styles from './kit.module.css'

/** Of two presses of Enter within this time the second one is part of the first. */
const ONE_PRESS_MS = 500

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly kind?: 'main'
  /** Whether each press counts, however quickly they follow each other. */
  readonly repeats?: boolean
}

/**
 * A button. Two presses in quick succession are one, even if the first one is answered before the second one comes, or
 * if another button is there by then. While it is disabled it does nothing, and a form is not sent with it, but it keeps
 * the focus: browsers take the focus away from what has the attribute `disabled`.
 */
export function Button({
  kind,
  type = 'button',
  disabled = false,
  repeats = false,
  onClick,
  ...rest
}: Props) {
  const isRepeated = useRepeated()
  return (
    <button
      {...rest}
      type={type}
      className={styles.button}
      data-kind={kind}
      aria-disabled={disabled || undefined}
      onClick={(event) => {
        if (disabled || (!repeats && isRepeated(event))) event.preventDefault()
        else onClick?.(event)
      }}
    />
  )
}

/** Whether a press belongs to the one before. The browser counts clicks of the mouse; keys come here with the count 0. */
function useRepeated(): (press: MouseEvent<HTMLButtonElement>) => boolean {
  const lastKeyAt = useRef(-Infinity)
  return ({ detail, currentTarget }) => {
    if (detail > 0) return detail > 1
    const before = lastKeyAt.current
    lastKeyAt.current = Date.now()
    // What is typed meanwhile is meant to be sent.
    const begin = () => (lastKeyAt.current = -Infinity)
    currentTarget.form?.addEventListener('input', begin, { once: true })
    // The clock of a computer may be set back.
    return Math.abs(lastKeyAt.current - before) < ONE_PRESS_MS
  }
}
