import { useState, type ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { Visible } from '../kit/visible.tsx'
import { ExactNumber, jsonOf, parseExact } from './exact.ts'
import type { Preview } from './outputs-query.ts'
import outputs from './outputs.module.css'

/** A value that is not sensitive: whole, or its beginning if it is long. */
export function PreviewedValue({ preview }: { readonly preview: Preview }) {
  const { 'value-text': text, 'value-bytes': bytes } = preview
  if (text === null || bytes === null) return <span className={styles.dim}>hidden</span>
  if (new TextEncoder().encode(text).length === bytes) return <Value value={parseExact(text)} />
  return (
    <>
      <span className={outputs.value} dir="ltr">
        <Visible text={text} /> …
      </span>
      <span className={styles.dim}>
        {' '}
        the first {text.length.toLocaleString('en')} characters; the whole value has{' '}
        {bytes.toLocaleString('en')} bytes
      </span>
    </>
  )
}

/** A value with every digit: a text, JSON, or a tree that opens. */
export function Value({ value }: { readonly value: unknown }) {
  if (value === '') return <span className={styles.dim}>an empty text</span>
  if (typeof value === 'string') {
    return (
      <span className={outputs.value} dir="auto">
        <Visible text={value} />
      </span>
    )
  }
  if (Array.isArray(value)) {
    const items = value.map((item: unknown, place) => [String(place), item] as const)
    return <Branch kind="list" items={items} />
  }
  if (isMap(value)) return <Branch kind="map" items={Object.entries(value)} />
  return <span className={outputs.value}>{jsonOf(value)}</span>
}

/** So many parts of a list or map are drawn at a time. A browser needs minutes for a hundred thousand. */
const DRAWN = 500

/** Its parts are drawn only when it is open. */
function Branch({
  kind,
  items,
}: {
  readonly kind: string
  readonly items: readonly (readonly [string, unknown])[]
}): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const [drawn, setDrawn] = useState(DRAWN)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {kind} of {items.length.toLocaleString('en')}
      </summary>
      {isOpen ? (
        <>
          <dl className={outputs.tree}>
            {items.slice(0, drawn).map(([name, item]) => (
              <div key={name}>
                <dt className={styles.mono} dir="auto">
                  <Visible text={name} />
                </dt>
                <dd>
                  <Value value={item} />
                </dd>
              </div>
            ))}
          </dl>
          {items.length > drawn ? (
            <Button onClick={() => setDrawn(drawn + DRAWN)}>
              Show more, after {drawn.toLocaleString('en')} of {items.length.toLocaleString('en')}
            </Button>
          ) : null}
        </>
      ) : null}
    </details>
  )
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
}
