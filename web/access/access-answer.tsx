import styles from '../kit/kit.module.css'
import type { EffectiveAccess, NeededGrant } from './access-grants-query.ts'
import shape from './access.module.css'
import { actionsOn, allowedIn } from './actions.ts'
import { GrantReason } from './grant-reason.tsx'
import { NeededGrants } from './needed-grants.tsx'

type Kind = 'workspaces' | 'projects'

/** What somebody may do on one workspace or project, why, and what would give the rest. */
export function AccessAnswer({
  organization,
  whose,
  on,
  access,
  isOpen,
}: {
  readonly organization: string
  readonly whose: string
  readonly on: Kind
  readonly access: EffectiveAccess
  readonly isOpen: boolean
}) {
  const { name, level, grants, 'granted-by': missing = {} } = access
  const all = allowedIn(access)
  return (
    <details className={shape.answer} open={isOpen}>
      <summary>
        <span dir="auto">{whose}</span> has <strong className={styles.mono}>{level}</strong> on{' '}
        <span dir="auto">{name}</span>
      </summary>
      <ul className={shape.sentences}>
        {actionsOn[on].map(({ name: action, words }) => (
          <li key={action}>
            <span className={all[action] === true ? shape.gain : styles.dim}>
              {all[action] === true ? '✓ may ' : '✗ may not '}
              {words} <span className={styles.mono}>{action}</span>
            </span>
            <WaysTo words={words} ways={missing[action] ?? []} />
          </li>
        ))}
      </ul>
      <h2>Why</h2>
      {grants.length === 0 ? (
        <p className={styles.dim}>No grant and no membership gives anything here.</p>
      ) : null}
      <ul>
        {grants.map((grant) => (
          <li key={`${grant.source} ${grant.id ?? ''} ${grant.team?.id ?? ''} ${grant.flag ?? ''}`}>
            <GrantReason organization={organization} source={grant} />{' '}
            <span className={styles.dim}>
              gives {grant.gives.length === 0 ? 'nothing' : grant.gives.join(', ')}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}

/** The grants of which each would be enough. */
function WaysTo({ words, ways }: { readonly words: string; readonly ways: readonly NeededGrant[] }) {
  if (ways.length === 0) return null
  return (
    <details>
      <summary aria-label={`What would give this: ${words}?`}>What would give this?</summary>
      <NeededGrants grants={ways} />
    </details>
  )
}
