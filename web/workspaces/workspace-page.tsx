import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Failed, Loading } from '../kit/states.tsx'
import { OutputsTable } from '../outputs/outputs-table.tsx'
import { workspaceQuery } from './workspaces-query.ts'

export function WorkspacePage() {
  const { organization, workspace: name } = useParams({ from: '/shell/$organization/workspaces/$workspace' })
  const { data, error, isError, refetch } = useQuery(workspaceQuery(organization, name))
  return (
    <>
      <h1 dir="auto">{name}</h1>
      {isError ? <Failed error={error} onRetry={() => void refetch()} /> : null}
      {data === undefined ? isError ? null : <Loading /> : <OutputsTable workspaceId={data.data.id} />}
    </>
  )
}
