import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams, useSearch, useNavigate } from '@tanstack/react-router'
import { Fragment } from 'react'
import { PlaceAccess } from '../access/place-access.tsx'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { Visible } from '../kit/visible.tsx'
import { WorkspaceList } from '../workspaces/workspace-list.tsx'
import { projectQuery } from './projects-query.ts'

/** A project, and the tabs. */
export function ProjectPage() {
  const params = useParams({ from: '/shell/$organization/projects/$project' })
  const found = useQuery(projectQuery(params.project))
  return (
    <>
      <h1 dir="auto">{found.data?.data.attributes.name ?? 'Project'}</h1>
      <Answered query={found}>
        {({ data: { id, attributes } }) => (
          // A project that is known already is shown at once: nothing of the one before may stay.
          <Fragment key={id}>
            {attributes.description === null ? null : (
              <p dir="auto">
                <Visible text={attributes.description} />
              </p>
            )}
            <nav aria-label="Project" className={styles.tabs}>
              <Link to="/$organization/projects/$project" params={params} activeOptions={{ exact: true }}>
                Workspaces
              </Link>
              <Link to="/$organization/projects/$project/access" params={params}>
                Access
              </Link>
              <Link to="/$organization/projects/$project/settings" params={params}>
                Settings
              </Link>
            </nav>
            <Outlet />
          </Fragment>
        )}
      </Answered>
    </>
  )
}

/** The first tab. */
export function ProjectWorkspacesPage() {
  const { organization, project } = useParams({ from: '/shell/$organization/projects/$project/' })
  const { q = '', page = 1 } = useSearch({ from: '/shell/$organization/projects/$project' })
  const navigate = useNavigate({ from: '/$organization/projects/$project' })
  return (
    <WorkspaceList
      organization={organization}
      projectId={project}
      q={q}
      page={page}
      empty="No workspaces in this project that you may see."
      onShow={(search) => void navigate({ search, replace: true })}
    />
  )
}

export function ProjectAccessPage() {
  const { organization, project } = useParams({ from: '/shell/$organization/projects/$project/access' })
  return <PlaceAccess organization={organization} place={{ type: 'projects', id: project }} />
}
