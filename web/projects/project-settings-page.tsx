import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Ending } from '../access/ending.tsx'
import { useChange } from '../api/change.ts'
import { request, resource, type Resource } from '../api/client.ts'
import { Deletion } from '../kit/deletion.tsx'
import { Field } from '../kit/field.tsx'
import { Offer } from '../kit/offer.tsx'
import { SettingsForm } from '../kit/settings-form.tsx'
import { TagBindings } from '../tags/tag-bindings.tsx'
import { projectQuery, type Project } from './projects-query.ts'

/** The name and description of a project, and its end. */
export function ProjectSettingsPage() {
  const { organization, project: id } = useParams({ from: '/shell/$organization/projects/$project/settings' })
  const navigate = useNavigate()
  const project = useQuery(projectQuery(id))
  if (project.data === undefined) return null
  const { attributes } = project.data.data
  return (
    <>
      <Naming key={id} project={project.data.data} latest={project.refetch} />
      <TagBindings
        of={`/projects/${id}`}
        mayChange={attributes.permissions['can-update'] === true}
        whoMay="Somebody who manages the project"
      />
      <Offer
        may={attributes.permissions['can-destroy']}
        who="Somebody who manages the project"
        to="delete it"
      >
        <Deletion
          what="the project"
          name={attributes.name}
          path={`/projects/${id}`}
          queryKey={projectQuery(id).queryKey}
          onDone={() => navigate({ to: '/$organization/projects', params: { organization } })}
        >
          <p>
            The grants on it end with it. A project that still has workspaces is not deleted: move or delete
            them first.
          </p>
          <Ending change={{ method: 'DELETE', path: `/projects/${id}` }} />
        </Deletion>
      </Offer>
    </>
  )
}

function Naming({
  project: { id, attributes },
  latest,
}: {
  readonly project: Resource<Project>
  readonly latest: () => Promise<unknown>
}) {
  const mayChange = attributes.permissions['can-update'] === true
  const queries = useQueryClient()
  const save = useChange({
    mutationFn: (changed: object) =>
      request(`/projects/${id}`, { method: 'PATCH', body: resource('projects', changed) }),
    onSuccess: () => queries.invalidateQueries(),
  })
  return (
    <SettingsForm
      change={save}
      mayChange={mayChange}
      whoMay="Somebody who manages the project"
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
    </SettingsForm>
  )
}
