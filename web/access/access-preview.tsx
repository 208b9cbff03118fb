import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import shape from './access.module.css'
import { dryRun, sentencesOf, type AccessChange, type Change, type KeptToken } from './changes.ts'

const WAIT_MS = 400

/** What a change would do to everybody's access, asked of the server when the reader stops choosing. */
export function AccessPreview({
  change,
  doing = 'save this',
  nothing = 'nobody’s access changes',
  onEndTokens,
}: {
  readonly change: Change
  /** What the reader is about to do, after "If you". */
  readonly doing?: string
  /** What is said if no change is listed. */
  readonly nothing?: string
  /** Offers to end the tokens that somebody who leaves knows, and is told whether to do that. */
  readonly onEndTokens?: (isEnding: boolean) => void
}) {
  const [asked, setAsked] = useState<string>()
  const wanted = JSON.stringify(change)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), WAIT_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const isReady = asked === wanted
  const found = useQuery({
    queryKey: ['dry-run', wanted],
    queryFn: ({ signal }) => dryRun(change, signal),
    enabled: isReady,
    // A preview holds for a moment only. Once the change is made, nothing is asked again: its object may be gone.
    gcTime: 0,
    staleTime: 'static',
    retry: false,
  })
  if (found.isError && isReady) return <Failed error={found.error} />
  const { tokens = [], 'tokens-truncated': hasMore = false } = (isReady ? found.data : undefined) ?? {}
  return (
    <>
      <div className={styles.notice} role="status" aria-busy={found.data === undefined}>
        {found.data === undefined || !isReady ? (
          'Asking what this would change …'
        ) : found.data.changes.length === 0 ? (
          `If you ${doing}, ${nothing}.`
        ) : (
          <>
            <p className={shape.lead}>If you {doing}, as of now:</p>
            <ul className={shape.sentences}>
              {sentencesOf(found.data).map(({ isLoss, text }) => (
                <li key={text} className={isLoss ? shape.loss : shape.gain}>
                  {isLoss ? '− ' : '+ '}
                  {text}
                </li>
              ))}
            </ul>
            <details>
              <summary>Show each change</summary>
              <ul className={shape.sentences}>
                {found.data.changes.map((one) => (
                  <li key={`${one.who.id} ${one.on.id}`}>
                    <Each change={one} />
                  </li>
                ))}
              </ul>
              {found.data.truncated ? <p className={styles.dim}>There are more than these.</p> : null}
            </details>
          </>
        )}
      </div>
      {isReady && found.data !== undefined
        ? found.data.warnings?.map((warning) => <p key={warning}>Note: {warning}.</p>)
        : null}
      {onEndTokens === undefined || tokens.length === 0 ? null : (
        <KeptTokens tokens={tokens} hasMore={hasMore} onEnd={onEndTokens} />
      )}
    </>
  )
}

/** The tokens that stay valid, and the choice to end them. */
function KeptTokens({
  tokens,
  hasMore,
  onEnd,
}: {
  readonly tokens: readonly KeptToken[]
  readonly hasMore: boolean
  readonly onEnd: (isEnding: boolean) => void
}) {
  return (
    <div className={styles.notice}>
      <p>They have made or seen these tokens, which stay valid:</p>
      <ul>
        {tokens.map(({ id, organization, team, description }) => (
          <li key={id} dir="auto">
            {description ?? id}: of {team === null ? organization : `the team ${team} of ${organization}`}
          </li>
        ))}
      </ul>
      {hasMore ? <p className={styles.dim}>There are more than these.</p> : null}
      <label>
        <input type="checkbox" onChange={(event) => onEnd(event.target.checked)} /> end these tokens, too:
        what uses them stops working
      </label>
    </div>
  )
}

function Each({ change: { who, on, from, to, gained, lost } }: { readonly change: AccessChange }) {
  return (
    <>
      <span dir="auto">{who.name}</span>
      {who.type === 'teams' ? ' (its tokens)' : ''} on <span dir="auto">{on.name}</span>
      {from === undefined || to === undefined || from === to ? '' : `: ${from} → ${to}`}
      {lost.length === 0 ? '' : ` − ${lost.join(', ')}`}
      {gained.length === 0 ? '' : ` + ${gained.join(', ')}`}
    </>
  )
}
