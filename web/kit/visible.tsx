import styles from './kit.module.css'

/** What changes or hides text around it, or shows nothing. Without line breaks, tabs, and the joiners that scripts need. */
const UNSEEN = /([[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\t\n\u200C\u200D]]+)/v
/** A text may consist of nothing else, and a browser needs long for very many elements. */
const MARKED = 200

/**
 * A text of somebody else, with a mark in place of what nobody would see. Each is in an element of its own, so that it
 * does not turn the text after it around. The marks are no text: what is copied stays as it is.
 */
export function Visible({ text }: { readonly text: string }) {
  const parts = text.split(UNSEEN)
  if (parts.length === 1) return text
  const rest = parts.slice(2 * MARKED).join('')
  return (
    <>
      {parts.slice(0, 2 * MARKED).map((part, place) =>
        place % 2 === 0 ? (
          part
        ) : (
          <bdi key={place} className={styles.control} data-code={codesOf(part)}>
            {part}
          </bdi>
        ),
      )}
      {rest === '' ? null : <bdi>{rest}</bdi>}
    </>
  )
}

/** The first ones are enough. */
function codesOf(text: string): string {
  const all = Array.from(text, (one) => one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0'))
  const codes = all.slice(0, 4).map((code) => `U+${code}`)
  return `${codes.join(' ')}${all.length > codes.length ? ' …' : ''}`
}
