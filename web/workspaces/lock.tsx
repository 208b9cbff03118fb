import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import type { Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { WhoMay } from '../kit/offer.tsx'
import { Failed } from '../kit/states.tsx'
import { changeLock, type Workspace } from './workspaces-query.ts'

const LOCK = 'lock and unlock the workspace'

type Action = Parameters<typeof changeLock>[1]

/** Whether the workspace is locked, and what the caller may do about it. */
export function Lock({ workspace: { id, attributes } }: { readonly workspace: Resource<Workspace> }) {
  const queries = useQueryClient()
  const [isForcing, setForcing] = useState(false)
  const change = useChange({
    mutationFn: (action: Action) => changeLock(id, action, 'locked in the pages'),
    onSettled: async () => {
      setForcing(false)
      await queries.invalidateQueries({ queryKey: ['workspace'] })
    },
  })
  const { locked, permissions, 'locked-reason': reason } = attributes
  const may = (name: string) => permissions[name] === true
  const action = locked ? 'unlock' : 'lock'
  const button = (next: Action, text: string) => (
    <Button data-offer={LOCK} disabled={change.isPending} onClick={() => change.mutate(next)}>
      {text}
    </Button>
  )
  return (
    <>
      <p>
        {locked ? <span className={styles.secret}>locked</span> : 'Not locked'}
        {locked && reason !== null && reason !== '' ? <span dir="auto">: {reason}</span> : null}{' '}
        {/* One button, so that the second press of two does not undo the first. */}
        {may(`can-${action}`) ? button(action, locked ? 'Unlock' : 'Lock') : null}{' '}
        {locked && may('can-force-unlock') && !isForcing ? (
          <Button data-offer={LOCK} onClick={() => setForcing(true)}>
            Unlock by force …
          </Button>
        ) : null}
      </p>
      {may('can-lock') || may('can-unlock') || may('can-force-unlock') ? null : (
        <WhoMay who="Teams with the access write, or with workspace locking," to={LOCK} />
      )}
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
