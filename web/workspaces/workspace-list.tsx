import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { isStatus } from '../api/errors.ts'
import styles from '../kit/kit.module.css'
import { SearchedTable, type Search } from '../kit/searched-table.tsx'
import { Time } from '../kit/time.tsx'
import { organizationQuery } from '../organizations/organizations-query.ts'
import { projectName, workspacesQuery } from './workspaces-query.ts'

/** The workspaces of an organization or of one project, with a search. */
export function WorkspaceList({
  organization,
  projectId,
  q,
  page,
  empty,
  onShow,
}: {
  readonly organization: string
  readonly projectId?: string
  readonly q: string
  readonly page: number
  /** Shown if there is none at all. */
  readonly empty: ReactNode
  /** Takes the search and the page to the address. */
  readonly onShow: (search: Search) => void
}) {
  const place = useQuery(organizationQuery(organization))
  const workspaces = useQuery(workspacesQuery(organization, q, page, projectId))
  return (
    <SearchedTable
      label="Find a workspace"
      q={q}
      query={workspaces}
      columns={['Name', 'Project', 'Changed', 'Lock']}
      isCounted
      empty={empty}
      unmatched={`No workspace matches “${q}”.`}
      hidden={
        isStatus(place.error, 404) ? undefined : (
          <>
            You may not list workspaces here. Open a workspace by a link that somebody gave you, or see on the
            pages of your{' '}
            <Link to="/$organization/settings/teams" params={{ organization }}>
              teams
            </Link>{' '}
            which workspaces they have access to.
          </>
        )
      }
      page={page}
      onShow={onShow}
    >
      {(list) =>
        list.data.map((workspace) => {
          const { name, locked, 'latest-change-at': changedAt } = workspace.attributes
          return (
            <tr key={workspace.id}>
              <td dir="auto">
                <Link to="/$organization/workspaces/$workspace" params={{ organization, workspace: name }}>
                  {name}
                </Link>
              </td>
              <td dir="auto">{projectName(list, workspace) ?? '–'}</td>
              <td>
                <Time at={changedAt} />
              </td>
              <td className={locked ? styles.secret : styles.dim}>{locked ? 'locked' : '–'}</td>
            </tr>
          )
        })
      }
    </SearchedTable>
  )
}
