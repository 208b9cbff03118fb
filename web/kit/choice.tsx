import type { UseQueryResult } from '@tanstack/react-query'
import type { Page } from '../api/client.ts'
import { Field } from './field.tsx'
import styles from './kit.module.css'
import { Answered, foundInWords } from './states.tsx'

const SHOWN = 10

export type Chosen = { readonly id: string; readonly name: string }

/** Finds one of many by its name. */
export function Choice({
  what,
  found,
  q,
  chosen,
  isFirst = false,
  onSearch,
  onChoose,
}: {
  /** Such as "team". */
  readonly what: string
  /** Those whose name contains `q`. */
  readonly found: UseQueryResult<Page<{ readonly name: string }>>
  readonly q: string
  readonly chosen: Chosen | undefined
  /** Whether it takes the focus. */
  readonly isFirst?: boolean
  readonly onSearch: (q: string) => void
  readonly onChoose: (one: Chosen) => void
}) {
  return (
    <div>
      <Field
        label={`Find a ${what}`}
        type="search"
        value={q}
        autoFocus={isFirst}
        onChange={(event) => onSearch(event.target.value)}
      />
      <p role="status" className={styles.unseen}>
        {found.data === undefined ? '' : foundInWords(found.data.meta.pagination['total-count'])}
      </p>
      <Answered query={found} isEmpty={({ data }) => data.length === 0} empty={`No ${what} matches “${q}”.`}>
        {({ data, meta: { pagination } }) => (
          <fieldset className={styles.choices}>
            <legend>{what.replace(/^./, (first) => first.toUpperCase())}</legend>
            {data.slice(0, SHOWN).map(({ id, attributes: { name } }) => (
              <label key={id}>
                <input
                  type="radio"
                  name={what}
                  checked={chosen?.id === id}
                  onChange={() => onChoose({ id, name })}
                />{' '}
                <span dir="auto">{name}</span>
              </label>
            ))}
            {pagination['total-count'] > SHOWN ? (
              <span className={styles.dim}>
                and {(pagination['total-count'] - SHOWN).toLocaleString('en')} more: type a part of the name
              </span>
            ) : null}
          </fieldset>
        )}
      </Answered>
    </div>
  )
}
