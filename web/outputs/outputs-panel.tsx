import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Page } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { SearchField } from '../kit/search-field.tsx'
import type { Search } from '../kit/searched-table.tsx'
import { Empty, Failed, messageOf } from '../kit/states.tsx'
import { OutputRow } from './output-row.tsx'
import shape from './outputs.module.css'
import { outputsQuery, type NamedPreview } from './outputs-query.ts'
import { ShownVersion } from './shown-version.tsx'

const FROM = '/shell/$organization/workspaces/$workspace'

const copyForms = ['value', 'JSON', 'HCL (tfe_outputs)', 'curl'] as const
export type CopyForm = (typeof copyForms)[number]

/** The current outputs of a workspace, live. `names` are known to callers who may see the workspace. */
export function OutputsPanel({
  workspaceId,
  mayReveal,
  names,
  hasState,
}: {
  readonly workspaceId: string
  readonly mayReveal: boolean
  /** Whether there is a state. Only those who may read outputs know. */
  readonly hasState?: boolean
  readonly names?: { readonly organization: string; readonly workspace: string }
}) {
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces/$workspace' })
  const show = (search: Search) => void navigate({ search, replace: true })
  const [isLive, setLive] = useState(true)
  const [form, setForm] = useState<CopyForm>('value')
  const outputs = useQuery(outputsQuery(workspaceId, q, page, isLive))
  const held = useHeld(outputs.isPlaceholderData ? undefined : outputs.data, `${q} ${page}`)
  if (isStatus(outputs.error, 404)) return <Failed error={outputs.error} />
  if (isStatus(outputs.error, 409)) return <Empty>{messageOf(outputs.error)}</Empty>
  const isProcessing = outputs.data === undefined && outputs.failureReason !== null
  return (
    <>
      <div className={shape.bar}>
        <SearchField label="Find an output" q={q} onSearch={(text) => show({ q: text || undefined })} />
        <label>
          Copy as{' '}
          <select
            value={form}
            onChange={({ target }) => setForm(copyForms.find((one) => one === target.value) ?? 'value')}
          >
            {copyForms
              .filter((one) => one !== 'HCL (tfe_outputs)' || names !== undefined)
              .map((one) => (
                <option key={one}>{one}</option>
              ))}
          </select>
        </label>
        <Button aria-pressed={!isLive} onClick={() => setLive(!isLive)}>
          {isLive ? 'Pause' : 'Go on'}
        </Button>
      </div>
      <p className={styles.dim} role="status">
        {isProcessing
          ? 'The outputs of the new state are still being processed …'
          : isLive
            ? 'The outputs of a new state appear here by themselves.'
            : 'Paused: the outputs of a new state do not appear.'}
      </p>
      {held.isNewer ? (
        <div className={styles.notice} role="status">
          A newer state is here. <Button onClick={held.show}>Show it</Button>
        </div>
      ) : null}
      <ShownVersion workspaceId={workspaceId} names={names} output={(held.shown ?? outputs.data)?.data[0]} />
      <PagedTable
        query={{ ...outputs, data: held.shown ?? outputs.data }}
        columns={['Output', 'Value', 'Type', 'Actions']}
        isCounted
        empty={
          q !== '' ? (
            `No output matches “${q}”.`
          ) : hasState === true ? (
            'The state has no outputs.'
          ) : (
            <>
              {mayReveal ? 'No state yet' : 'No outputs yet'}. Outputs appear after the first{' '}
              <code>tofu apply</code>.
            </>
          )
        }
        page={page}
        onShow={(number) => show({ q: q || undefined, page: number })}
      >
        {({ data }) =>
          data.map((output) => (
            <OutputRow
              key={output.id}
              output={output}
              workspaceId={workspaceId}
              mayReveal={mayReveal}
              form={form}
              names={names}
            />
          ))
        }
      </PagedTable>
    </>
  )
}

/** Keeps what is shown when a newer answer arrives, so that nothing moves under the pointer. An empty one is not kept. */
function useHeld(newest: Page<NamedPreview> | undefined, question: string) {
  const [held, setHeld] = useState<{ question: string; answer: Page<NamedPreview> }>()
  const isFresh = held?.question !== question || (held.answer.data.length === 0 && held.answer !== newest)
  if (newest !== undefined && isFresh) setHeld({ question, answer: newest })
  const shown = held?.question === question ? held.answer : undefined
  return {
    shown,
    isNewer: newest !== undefined && shown !== undefined && newest !== shown,
    show: () => newest !== undefined && setHeld({ question, answer: newest }),
  }
}
