import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { accountQuery } from '../api/session.ts'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { TokensPanel } from '../tokens/tokens-panel.tsx'

/** One's own tokens. CLIs that do not know login.v1 send people here. */
export function OwnTokensPage() {
  const { source } = useSearch({ from: '/shell/settings/tokens' })
  const account = useQuery(accountQuery)
  return (
    <>
      <h1>Your tokens</h1>
      {source === undefined ? null : (
        <div className={styles.notice}>
          Make a token here, copy it, and paste it into the terminal that waits for it.
        </div>
      )}
      <p className={styles.dim}>A token may do what you may do. For a pipeline, take a token of a team.</p>
      <Answered query={account}>
        {({ data: { id } }) => (
          <TokensPanel
            path={`/users/${id}/authentication-tokens`}
            mayEndAll
            empty="No tokens. OpenTofu and Terraform on your machine need one."
          />
        )}
      </Answered>
    </>
  )
}
