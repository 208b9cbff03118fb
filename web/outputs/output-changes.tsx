import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Pager } from '../kit/pager.tsx'
import { Answered } from '../kit/states.tsx'
import { Table } from '../kit/table.tsx'
import styles from '../kit/kit.module.css'
import { Visible } from '../kit/visible.tsx'
import { changesQuery, type Change } from './changes-query.ts'
import type { Preview } from './outputs-query.ts'
import { PreviewedValue } from './value.tsx'
import { typeInWords } from './words.ts'

const marks = { added: '+', changed: '~', removed: '−' } as const

/** What differs between the outputs of two state versions. Sensitive values are compared by the server and stay there. */
export function OutputChanges({
  stateVersionId,
  since,
}: {
  readonly stateVersionId: string
  readonly since: string | undefined
}) {
  const [page, setPage] = useState(1)
  const changes = useQuery(changesQuery(stateVersionId, since, page))
  return (
    <Answered query={changes}>
      {({ data, meta }) => (
        <>
          <p>
            {meta.added.toLocaleString('en')} added · {meta.changed.toLocaleString('en')} changed ·{' '}
            {meta.removed.toLocaleString('en')} removed
          </p>
          {data.length === 0 ? (
            <p className={styles.dim}>The outputs of the two versions are the same.</p>
          ) : (
            <Table columns={['Output', 'Before', 'After']}>
              {data.map(({ id, attributes }) => (
                <ChangeRow key={id} change={attributes} />
              ))}
            </Table>
          )}
          <Pager
            page={page}
            pagination={meta.pagination}
            isBusy={changes.isPlaceholderData}
            onShow={setPage}
          />
        </>
      )}
    </Answered>
  )
}

function ChangeRow({ change: { name, change, differs, before, after } }: { readonly change: Change }) {
  return (
    <tr>
      <th scope="row" className={styles.mono} dir="auto">
        <span title={change}>{marks[change]}</span> <Visible text={name} />
        <span className={styles.dim}> {change === 'changed' ? `${differs.join(', ')} changed` : change}</span>
      </th>
      <td>
        <Side preview={before} differs={differs} />
      </td>
      <td>
        <Side preview={after} differs={differs} />
      </td>
    </tr>
  )
}

function Side({
  preview,
  differs,
}: {
  readonly preview: Preview | null
  readonly differs: Change['differs']
}) {
  if (preview === null) return '–'
  return (
    <>
      {preview.sensitive ? (
        <span className={styles.secret}>{differs.includes('value') ? 'changed, hidden' : 'hidden'}</span>
      ) : (
        <PreviewedValue preview={preview} />
      )}
      {differs.includes('type') ? (
        <span className={styles.dim}> {typeInWords(preview['detailed-type'])}</span>
      ) : null}
    </>
  )
}
