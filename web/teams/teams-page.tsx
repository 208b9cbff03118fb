import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { grantedFlags } from './permission-words.ts'
import { NewTeam } from './new-team.tsx'
import { teamsQuery } from './teams-query.ts'

const FROM = '/shell/$organization/settings/teams'

export function TeamsPage() {
  const { organization } = useParams({ from: FROM })
  const { q = '', page = 1 } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/settings/teams' })
  const teams = useQuery(teamsQuery(organization, q, page))
  const place = useQuery(organizationQuery(organization))
  const mayCreate = place.data?.data.attributes.permissions['can-create-team']
  const show = (search: Search) => void navigate({ search, replace: true })
  return (
    <>
      <h1>Teams</h1>
      <Offer may={mayCreate} who="An owner" to="create a team">
        <NewTeam organization={organization} />
      </Offer>
      <SearchedTable
        label="Find a team"
        q={q}
        query={teams}
        columns={['Name', 'Visibility', 'Members', 'Permissions']}
        isCounted
        empty="There is no team that you may see. A team gets access, and its members have it."
        unmatched={`No team matches “${q}”. Clear the search, or make a team of that name.`}
        page={page}
        onShow={show}
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
              <td className={styles.dim}>
                {grantedFlags(attributes['organization-access']).join(', ') || '–'}
              </td>
            </tr>
          ))
        }
      </SearchedTable>
    </>
  )
}
