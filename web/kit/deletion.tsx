import { useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { useChange } from '../api/change.ts'
import { request } from '../api/client.ts'
import { Button } from './button.tsx'
import { Field } from './field.tsx'
import { Failed } from './states.tsx'

/** Deletes something for good, after the reader has typed its name. */
export function Deletion({
  what,
  name,
  path,
  method = 'DELETE',
  queryKey,
  children,
  onDone,
}: {
  /** Such as "the team". */
  readonly what: string
  readonly name: string
  /** Below /api/v2. */
  readonly path: string
  readonly method?: string
  /** Of the query of the deleted object, which is forgotten. */
  readonly queryKey?: QueryKey
  /** What ends with it. */
  readonly children: ReactNode
  /** Navigates away from the page of the deleted object, if it has one. All queries are read again afterwards. */
  readonly onDone?: () => Promise<void>
}) {
  const [isAsked, setAsked] = useState(false)
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const remove = useChange({
    mutationFn: () => request(path, { method }),
    onSuccess: async () => {
      await onDone?.()
      if (queryKey !== undefined) queries.removeQueries({ queryKey })
      await queries.invalidateQueries()
    },
  })
  if (!isAsked) {
    return (
      <p>
        <Button onClick={() => setAsked(true)}>Delete {what} …</Button>
      </p>
    )
  }
  return (
    <div role="group" aria-label={`Delete ${what}`}>
      <h2>Delete {what}</h2>
      {children}
      <Field
        label={`Type ${name} to delete it`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {remove.isError ? <Failed error={remove.error} /> : null}
      <p>
        <Button onClick={() => setAsked(false)}>Keep it</Button>{' '}
        <Button kind="main" disabled={typed !== name || remove.isPending} onClick={() => remove.mutate()}>
          Delete for good
        </Button>
      </p>
    </div>
  )
}
