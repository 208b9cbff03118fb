import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type FormEvent } from 'react'
import { inOrganization, request } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import type { Chosen } from '../kit/choice.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { ProjectChoice } from '../projects/project-choice.tsx'
import { textsOf } from '../sign-in/form.ts'

/** Creates a workspace, and goes to it. */
export function NewWorkspace({ organization }: { readonly organization: string }) {
  const [isOpen, setOpen] = useState(false)
  const [project, setProject] = useState<Chosen>()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    make.mutate({ name: text('name'), description: text('description') })
  }
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>New workspace</summary>
      <form className={styles.inline} onSubmit={submit} aria-label="New workspace">
        <Field label="Name" name="name" required />
        <Field label="Description" name="description" />
        {isOpen ? <ProjectChoice organization={organization} chosen={project} onChoose={setProject} /> : null}
        <p className={styles.dim}>Without a project, the workspace is in the default project.</p>
        <Button type="submit" kind="main" disabled={make.isPending}>
          Create
        </Button>
        {make.isError ? <Failed error={make.error} /> : null}
      </form>
    </details>
  )
}
