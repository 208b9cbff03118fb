import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../api/change.ts'
import { inOrganization, request } from '../api/client.ts'
import type { Chosen } from '../kit/choice.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { NewForm } from '../kit/new-form.tsx'
import { ProjectChoice } from '../projects/project-choice.tsx'

/** Creates a workspace, and goes to it. */
export function NewWorkspace({ organization }: { readonly organization: string }) {
  const [isOpen, setOpen] = useState(false)
  const [project, setProject] = useState<Chosen>()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useChange({
    mutationFn: (attributes: { name: string; description: string }) => {
      const chosen = project && { project: { data: { type: 'projects', id: project.id } } }
      return request(inOrganization(organization, 'workspaces'), {
        method: 'POST',
        body: { data: { type: 'workspaces', attributes, ...(chosen && { relationships: chosen }) } },
      })
    },
    onSuccess: async (_, { name: workspace }) => {
      await queries.invalidateQueries({ queryKey: ['workspaces'] })
      await navigate({ to: '/$organization/workspaces/$workspace', params: { organization, workspace } })
    },
  })
  return (
    <NewForm
      title="New workspace"
      creation={make}
      onToggle={setOpen}
      onSubmit={(textOf) => make.mutate({ name: textOf('name'), description: textOf('description') })}
    >
      <Field label="Name" name="name" required />
      <Field label="Description" name="description" />
      {isOpen ? <ProjectChoice organization={organization} chosen={project} onChoose={setProject} /> : null}
      <p className={styles.dim}>Without a project, the workspace is in the default project.</p>
    </NewForm>
  )
}
