import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Choice, type Chosen } from '../kit/choice.tsx'
import { projectsQuery } from './projects-query.ts'

/** Finds a project by its name. */
export function ProjectChoice({
  organization,
  chosen,
  onChoose,
}: {
  readonly organization: string
  readonly chosen: Chosen | undefined
  readonly onChoose: (project: Chosen) => void
}) {
  const [q, setQ] = useState('')
  const found = useQuery(projectsQuery(organization, q, 1))
  return <Choice what="project" found={found} q={q} chosen={chosen} onSearch={setQ} onChoose={onChoose} />
}
