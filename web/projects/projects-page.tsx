import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { inOrganization, request, resource, type One } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { Failed } from '../kit/states.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { textsOf } from '../sign-in/form.ts'
import { projectsQuery, type Project } from './projects-query.ts'

const FROM = '/shell/$organization/projects'

export function ProjectsPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/projects' })
  const projects = useQuery(projectsQuery(organization, q, page))
  const place = useQuery(organizationQuery(organization))
  const mayCreate = place.data?.data.attributes.permissions['can-create-project'] === true
  const show = (search: { q?: string | undefined; page?: number }) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Projects</h1>
      {mayCreate ? <NewProject organization={organization} /> : null}
      <Field
        label="Find a project"
        type="search"
        value={q}
        onChange={(event) => show({ q: event.target.value || undefined })}
      />
      <PagedTable
        query={projects}
        columns={['Name', 'Description', 'Workspaces']}
        counted="found"
        empty={q === '' ? 'There is no project that you may see.' : `No project matches “${q}”.`}
        page={page}
        onShow={(number) => show({ q: q || undefined, page: number })}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <tr key={id}>
              <td dir="auto">
                <Link to="/$organization/projects/$project" params={{ organization, project: id }}>
                  {attributes.name}
                </Link>
              </td>
              <td dir="auto">{attributes.description ?? '–'}</td>
              <td>{attributes['workspace-count'].toLocaleString('en')}</td>
            </tr>
          ))
        }
      </PagedTable>
    </>
  )
}

function NewProject({ organization }: { readonly organization: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    mutationFn: (attributes: { name: string; description: string }) =>
      request<One<Project>>(inOrganization(organization, 'projects'), {
        method: 'POST',
        body: resource('projects', attributes),
      }),
    onSuccess: async ({ data: { id: project } }) => {
      await queries.invalidateQueries({ queryKey: ['projects'] })
      await navigate({ to: '/$organization/projects/$project', params: { organization, project } })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    make.mutate({ name: text('name'), description: text('description') })
  }
  return (
    <details>
      <summary>New project</summary>
      <form className={styles.inline} onSubmit={submit} aria-label="New project">
        <Field label="Name" name="name" required />
        <Field label="Description" name="description" />
        <Button type="submit" kind="main" disabled={make.isPending}>
          Create
        </Button>
        {make.isError ? <Failed error={make.error} /> : null}
      </form>
    </details>
  )
}
