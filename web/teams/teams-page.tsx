import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { NewTeam } from './new-team.tsx'
import { teamsQuery } from './teams-query.ts'

const FROM = '/shell/$organization/settings/teams'

export function TeamsPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/settings/teams' })
  const teams = useQuery(teamsQuery(organization, q, page))
  const place = useQuery(organizationQuery(organization))
  const mayCreate = place.data?.data.attributes.permissions['can-create-team'] === true
  const show = (search: { q?: string; page?: number }) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Teams</h1>
      {mayCreate ? <NewTeam organization={organization} /> : null}
      <Field
        label="Find a team"
        type="search"
        value={q}
        onChange={(event) => show({ q: event.target.value || undefined })}
      />
      <PagedTable
        query={teams}
        columns={['Name', 'Visibility', 'Members']}
        counted="found"
        empty={
          q === ''
            ? 'No teams yet. A team is what gets access; people get it by being in one.'
            : `No team matches “${q}”. Clear the search, or make a team of that name.`
        }
        page={page}
        onShow={(number) => show({ q: q || undefined, page: number })}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <tr key={id}>
              <td dir="auto">
                <Link to="/$organization/settings/teams/$team" params={{ organization, team: id }}>
                  {attributes.name}
                </Link>
              </td>
              <td className={attributes.visibility === 'secret' ? styles.secret : undefined}>
                {attributes.visibility === 'secret' ? 'secret' : 'organization'}
              </td>
              <td>{attributes['users-count'].toLocaleString('en')}</td>
            </tr>
          ))
        }
      </PagedTable>
    </>
  )
}
