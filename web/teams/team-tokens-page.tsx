import { useParams } from '@tanstack/react-router'
import { TokensPanel } from '../tokens/tokens-panel.tsx'

/** The tokens of a team, which act as the team. */
export function TeamTokensPage() {
  const { team } = useParams({ from: '/shell/$organization/settings/teams/$team/tokens' })
  return (
    <TokensPanel
      path={`/teams/${encodeURIComponent(team)}/authentication-tokens`}
      empty="No tokens. A pipeline needs one."
    />
  )
}
