import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Answered } from '../kit/states.tsx'
import { OutputsTable } from '../outputs/outputs-table.tsx'
import { workspaceQuery } from './workspaces-query.ts'

export function WorkspacePage() {
  const { organization, workspace: name } = useParams({ from: '/shell/$organization/workspaces/$workspace' })
  const found = useQuery(workspaceQuery(organization, name))
  return (
    <>
      <h1 dir="auto">{name}</h1>
      <Answered query={found}>{({ data }) => <OutputsTable workspaceId={data.id} />}</Answered>
    </>
  )
}
