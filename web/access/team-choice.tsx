import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Choice, type Chosen } from '../kit/choice.tsx'
import { teamsQuery } from '../teams/teams-query.ts'

/** Finds a team by its name. */
export function TeamChoice({
  organization,
  chosen,
  onChoose,
}: {
  readonly organization: string
  readonly chosen: Chosen | undefined
  readonly onChoose: (team: Chosen) => void
}) {
  const [q, setQ] = useState('')
  const found = useQuery(teamsQuery(organization, q, 1))
  return (
    <Choice what="team" found={found} q={q} chosen={chosen} isFirst onSearch={setQ} onChoose={onChoose} />
  )
}
