import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useChange } from '../api/change.ts'
import { inOrganization, request, resource, type One } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import { Field } from '../kit/field.tsx'
import { NewForm } from '../kit/new-form.tsx'
import { Offer } from '../kit/offer.tsx'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { projectsQuery, type Project } from './projects-query.ts'

const FROM = '/shell/$organization/projects'

export function ProjectsPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/projects' })
  const projects = useQuery(projectsQuery(organization, q, page))
  const place = useQuery(organizationQuery(organization))
  const mayCreate = place.data?.data.attributes.permissions['can-create-project']
  const show = (search: Search) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Projects</h1>
      <Offer may={mayCreate} who="An owner, or a team with manage-projects," to="create a project">
        <NewProject organization={organization} />
      </Offer>
      <SearchedTable
        label="Find a project"
        q={q}
        query={projects}
        columns={['Name', 'Description', 'Workspaces']}
        isCounted
        empty="There is no project that you may see."
        unmatched={`No project matches “${q}”.`}
        hidden={
          isStatus(place.error, 404)
            ? undefined
            : 'You may not list projects here. You see a project when one of your teams has access to it or to a workspace in it.'
        }
        page={page}
        onShow={show}
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
      </SearchedTable>
    </>
  )
}

function NewProject({ organization }: { readonly organization: string }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const make = useChange({
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
  return (
    <NewForm
      title="New project"
      creation={make}
      onSubmit={(textOf) => make.mutate({ name: textOf('name'), description: textOf('description') })}
    >
      <Field label="Name" name="name" required />
      <Field label="Description" name="description" />
    </NewForm>
  )
}
