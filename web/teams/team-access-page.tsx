import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { accessGrantsQuery } from '../access/access-grants-query.ts'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'

/** The grants of a team on workspaces and projects. */
export function TeamAccessPage() {
  const { organization, team } = useParams({ from: '/shell/$organization/settings/teams/$team/access' })
  const [page, setPage] = useState(1)
  const grants = useQuery(accessGrantsQuery('teams', team, page))
  return (
    <PagedTable
      query={grants}
      columns={['On', 'Access']}
      empty="You can see no grant of this team. Give it access on the Access tab of a workspace."
      page={page}
      onShow={setPage}
    >
      {({ data }) =>
        data.map(({ id, attributes: { on, level, gives } }) => (
          <tr key={id}>
            <th scope="row" dir="auto">
              {on.type === 'workspaces' ? (
                <Link
                  to="/$organization/workspaces/$workspace/access"
                  params={{ organization, workspace: on.name }}
                >
                  {on.name}
                </Link>
              ) : (
                <>
                  project{' '}
                  <Link
                    to="/$organization/projects/$project/access"
                    params={{ organization, project: on.id }}
                  >
                    {on.name}
                  </Link>
                </>
              )}
            </th>
            <td>
              <span className={styles.mono}>{level}</span>{' '}
              <span className={styles.dim}>{gives.length === 0 ? 'nothing' : gives.join(', ')}</span>
            </td>
          </tr>
        ))
      }
    </PagedTable>
  )
}
