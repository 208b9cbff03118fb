import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { AccessPreview } from '../access/access-preview.tsx'
import { Ending } from '../access/ending.tsx'
import { useChange } from '../api/change.ts'
import { related, request, type One, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import type { Chosen } from '../kit/choice.tsx'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import { Offer } from '../kit/offer.tsx'
import { SettingsForm, type Changed } from '../kit/settings-form.tsx'
import { ProjectChoice } from '../projects/project-choice.tsx'
import { projectQuery } from '../projects/projects-query.ts'
import { TagBindings } from '../tags/tag-bindings.tsx'
import { workspaceQuery, type Workspace } from './workspaces-query.ts'

/** The name, description and project of a workspace, and its end. */
export function WorkspaceSettingsPage() {
  const { organization, workspace: place } = useParams({
    from: '/shell/$organization/workspaces/$workspace/settings',
  })
  const navigate = useNavigate()
  const found = useQuery(workspaceQuery(organization, place))
  if (found.data === undefined) return null
  const { data } = found.data
  const { name, permissions } = data.attributes
  const { queryKey } = workspaceQuery(organization, place)
  const leave = () => navigate({ to: '/$organization/workspaces', params: { organization } })
  return (
    <>
      <Naming key={data.id} workspace={data} organization={organization} latest={found.refetch} />
      <TagBindings
        of={`/workspaces/${data.id}`}
        mayChange={permissions['can-manage-tags'] === true}
        whoMay="An admin of the workspace"
      />
      <Offer may={permissions['can-destroy']} who="An admin of the workspace" to="delete it">
        <h2>Delete</h2>
        <Deletion
          what="the workspace if it manages no resources"
          name={name}
          path={`/workspaces/${data.id}/actions/safe-delete`}
          method="POST"
          queryKey={queryKey}
          onDone={leave}
        >
          <p>
            The server refuses this while the workspace is locked or its state has managed resources. The
            states and the grants end with it.
          </p>
          <Ending change={{ method: 'POST', path: `/workspaces/${data.id}/actions/safe-delete` }} />
        </Deletion>
        <Deletion
          what="the workspace"
          name={name}
          path={`/workspaces/${data.id}`}
          queryKey={queryKey}
          onDone={leave}
        >
          <p>
            All its states and outputs end with it, and the grants on it, even if the state still has managed
            resources. This cannot be undone.
          </p>
          <Ending change={{ method: 'DELETE', path: `/workspaces/${data.id}` }} />
        </Deletion>
      </Offer>
    </>
  )
}

const movedTo = (project: Chosen | undefined) =>
  project && { relationships: { project: { data: { type: 'projects', id: project.id } } } }

function Naming({
  workspace,
  organization,
  latest,
}: {
  readonly workspace: Resource<Workspace>
  readonly organization: string
  readonly latest: () => Promise<unknown>
}) {
  const { id, attributes } = workspace
  const mayChange = attributes.permissions['can-update'] === true
  const queries = useQueryClient()
  const navigate = useNavigate()
  const projectId = related(workspace, 'project')?.id ?? ''
  const project = useQuery(projectQuery(projectId))
  const [moved, setMoved] = useState<Chosen>()
  const [isMoving, setMoving] = useState(false)
  const save = useChange({
    mutationFn: (changed: Changed) => {
      const data = { type: 'workspaces', id, attributes: changed, ...movedTo(moved) }
      return request<One<Workspace>>(`/workspaces/${id}`, { method: 'PATCH', body: { data } })
    },
    onSuccess: async (answer, { name: renamed }) => {
      if (typeof renamed === 'string') {
        // The page is known under the new name, so that the form stays and says that it has saved.
        queries.setQueryData(workspaceQuery(organization, renamed).queryKey, answer)
        await navigate({
          to: '/$organization/workspaces/$workspace/settings',
          params: { organization, workspace: renamed },
          replace: true,
        })
      }
      setMoving(false)
      setMoved(undefined)
      await queries.invalidateQueries()
    },
  })
  return (
    <SettingsForm
      change={save}
      mayChange={mayChange}
      whoMay="An admin of the workspace"
      latest={latest}
      onSubmit={(changed) => save.mutate(changed)}
    >
      <Field label="Name" name="name" defaultValue={attributes.name} disabled={!mayChange} required />
      <Field
        label="Description"
        name="description"
        defaultValue={attributes.description ?? ''}
        disabled={!mayChange}
      />
      <p>
        Project: <span dir="auto">{moved?.name ?? project.data?.data.attributes.name ?? projectId}</span>{' '}
        {mayChange && !isMoving ? (
          <Button data-offer="change these settings" onClick={() => setMoving(true)}>
            Move …
          </Button>
        ) : null}
      </p>
      {isMoving ? (
        <>
          <p>Grants on the project count for its workspaces, so a move changes who has access.</p>
          <ProjectChoice organization={organization} chosen={moved} onChoose={setMoved} />
          {moved === undefined ? null : (
            <AccessPreview
              change={{
                method: 'PATCH',
                path: `/workspaces/${id}`,
                body: { data: { type: 'workspaces', id, ...movedTo(moved) } },
              }}
            />
          )}
        </>
      ) : null}
    </SettingsForm>
  )
}
