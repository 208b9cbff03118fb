import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Offer } from '../kit/offer.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { NewWorkspace } from './new-workspace.tsx'
import { WorkspaceList } from './workspace-list.tsx'

const FROM = '/shell/$organization/workspaces'

export function WorkspacesPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/workspaces' })
  const place = useQuery(organizationQuery(organization))
  const mayCreate = place.data?.data.attributes.permissions['can-create-workspace']
  return (
    <>
      <h1>Workspaces</h1>
      <Offer may={mayCreate} who="An owner, or a team with manage-workspaces," to="create a workspace">
        <NewWorkspace organization={organization} />
      </Offer>
      <WorkspaceList
        organization={organization}
        q={q}
        page={page}
        empty={
          <>
            No workspaces yet. One is created by the first <code>tofu init</code>, or here.
          </>
        }
        onShow={(search) => void navigate({ search, replace: true })}
      />
    </>
  )
}
