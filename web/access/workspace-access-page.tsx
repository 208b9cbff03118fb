import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { workspaceQuery } from '../workspaces/workspaces-query.ts'
import { PlaceAccess } from './place-access.tsx'

export function WorkspaceAccessPage() {
  const { organization, workspace: name } = useParams({
    from: '/shell/$organization/workspaces/$workspace/access',
  })
  const workspace = useQuery(workspaceQuery(organization, name))
  if (workspace.data === undefined) return null
  return (
    <PlaceAccess organization={organization} place={{ type: 'workspaces', id: workspace.data.data.id }} />
  )
}
