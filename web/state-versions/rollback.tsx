import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { request, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { OutputChanges } from '../outputs/output-changes.tsx'
import type { OutputVersion } from '../outputs/output-versions-query.ts'
import { changeLock, type Workspace } from '../workspaces/workspaces-query.ts'

/** Makes an older state the current one, after showing what that changes in the outputs. */
export function Rollback({
  to,
  current,
  workspace,
}: {
  readonly to: Resource<OutputVersion>
  readonly current: string
  readonly workspace: Resource<Workspace>
}) {
  const [isAsked, setAsked] = useState(false)
  const queries = useQueryClient()
  const { serial } = to.attributes
  const rollback = useChange({
    mutationFn: async () => {
      await changeLock(workspace.id, 'lock', `roll back to serial ${serial}`)
      try {
        await request(`/workspaces/${workspace.id}/state-versions`, {
          method: 'PATCH',
          body: {
            data: {
              type: 'state-versions',
              relationships: {
                'rollback-state-version': { data: { type: 'state-versions', id: to.id } },
              },
            },
          },
        })
      } finally {
        await changeLock(workspace.id, 'unlock')
      }
    },
    onSuccess: () => setAsked(false),
    onSettled: () => queries.invalidateQueries(),
  })
  const { locked, permissions } = workspace.attributes
  const hindrance = locked
    ? 'The workspace is locked: only the holder of the lock may roll back.'
    : permissions['can-lock'] === true
      ? undefined
      : 'You may not lock the workspace, so you cannot roll back.'
  if (!isAsked) {
    return (
      <p>
        <Button
          disabled={hindrance !== undefined}
          aria-describedby="rollback-hindrance"
          onClick={() => setAsked(true)}
        >
          Roll back to serial {serial} …
        </Button>{' '}
        <span id="rollback-hindrance" className={styles.dim}>
          {hindrance}
        </span>
      </p>
    )
  }
  return (
    <div className={styles.notice} role="group" aria-label={`Roll back to serial ${serial}`}>
      <p>
        A new state version gets the content of serial {serial}. The versions since then stay in the history.
        This changes in the outputs:
      </p>
      <OutputChanges key={`${to.id} ${current}`} stateVersionId={to.id} since={current} />
      {rollback.isError ? <Failed error={rollback.error} /> : null}
      <p>
        <Button onClick={() => setAsked(false)}>Keep the current state</Button>{' '}
        <Button kind="main" disabled={rollback.isPending} onClick={() => rollback.mutate()}>
          Roll back to serial {serial}
        </Button>
      </p>
    </div>
  )
}
