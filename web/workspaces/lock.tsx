import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { changeLock, type Workspace } from './workspaces-query.ts'

type Action = Parameters<typeof changeLock>[1]

/** Whether the workspace is locked, and what the caller may do about it. */
export function Lock({ workspace: { id, attributes } }: { readonly workspace: Resource<Workspace> }) {
  const queries = useQueryClient()
  const [isForcing, setForcing] = useState(false)
  const change = useMutation({
    mutationFn: (action: Action) => changeLock(id, action, 'locked in the pages'),
    onSettled: async () => {
      setForcing(false)
      await queries.invalidateQueries({ queryKey: ['workspace'] })
    },
  })
  const { locked, permissions, 'locked-reason': reason } = attributes
  const may = (name: string) => permissions[name] === true
  const button = (action: Action, text: string) => (
    <Button disabled={change.isPending} onClick={() => change.mutate(action)}>
      {text}
    </Button>
  )
  return (
    <>
      <p>
        {locked ? <span className={styles.secret}>locked</span> : 'Not locked'}
        {locked && reason !== null && reason !== '' ? <span dir="auto">: {reason}</span> : null}{' '}
        {!locked && may('can-lock') ? button('lock', 'Lock') : null}
        {locked && may('can-unlock') ? button('unlock', 'Unlock') : null}{' '}
        {locked && may('can-force-unlock') && !isForcing ? (
          <Button onClick={() => setForcing(true)}>Unlock by force …</Button>
        ) : null}
      </p>
      {isForcing ? (
        <div className={styles.notice} role="group" aria-label="Unlock by force">
          <p>The holder of the lock may be writing a state right now. Then this state may be lost.</p>
          <Button onClick={() => setForcing(false)}>Leave it locked</Button>{' '}
          {button('force-unlock', 'Unlock by force')}
        </div>
      ) : null}
      {change.isError ? <Failed error={change.error} /> : null}
    </>
  )
}
