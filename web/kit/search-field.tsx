import { useEffect, useRef, useState } from 'react'
import { Field } from './field.tsx'

/**
 * A search whose text is in the address. The address follows a moment later, so the field keeps what was typed: set from
 * the address alone, it would put the cursor to the end after each letter.
 */
export function SearchField({
  label,
  q,
  onSearch,
}: {
  readonly label: string
  readonly q: string
  readonly onSearch: (q: string) => void
}) {
  const [text, setText] = useState(q)
  // What the address has or will have because of what was typed here.
  const typed = useRef(new Set<string>())
  useEffect(() => {
    if (q === text) typed.current.clear()
    else if (!typed.current.has(q)) setText(q)
  }, [q, text])
  return (
    <Field
      label={label}
      type="search"
      value={text}
      onChange={({ target: { value } }) => {
        typed.current.add(q).add(value)
        setText(value)
        onSearch(value)
      }}
    />
  )
}
