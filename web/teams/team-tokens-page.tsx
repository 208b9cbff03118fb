import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Offer } from '../kit/offer.tsx'
import { TokensPanel } from '../tokens/tokens-panel.tsx'
import { teamQuery } from './team-query.ts'

/** The tokens of a team, which act as the team. */
export function TeamTokensPage() {
  const { team } = useParams({ from: '/shell/$organization/settings/teams/$team/tokens' })
  const may = useQuery(teamQuery(team)).data?.data.attributes.permissions['can-update-api-token']
  return (
    <Offer may={may} who="An owner, or its members if its settings say so," to="make and revoke its tokens">
      <TokensPanel
        path={`/teams/${encodeURIComponent(team)}/authentication-tokens`}
        empty="No tokens. A pipeline needs one."
      />
    </Offer>
  )
}
