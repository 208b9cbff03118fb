import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import { related } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import styles from '../kit/kit.module.css'
import { Visible } from '../kit/visible.tsx'
import { Answered } from '../kit/states.tsx'
import { Time } from '../kit/time.tsx'
import { OutputsPanel } from '../outputs/outputs-panel.tsx'
import { Lock } from './lock.tsx'
import { isWorkspaceId, projectName, workspaceQuery } from './workspaces-query.ts'

/** A workspace: its lock, and the tabs. */
export function WorkspacePage() {
  const params = useParams({ from: '/shell/$organization/workspaces/$workspace' })
  const { organization, workspace: name } = params
  const found = useQuery(workspaceQuery(organization, name))
  if (isStatus(found.error, 404) && isWorkspaceId(name)) {
    return (
      <>
        <h1>Outputs of a workspace</h1>
        <p className={styles.dim}>
          You may not see the workspace <code>{name}</code> itself. Members of its organization see its
          outputs.
        </p>
        <OutputsPanel key={name} workspaceId={name} mayReveal={false} />
      </>
    )
  }
  return (
    <>
      <h1 dir="auto">{found.data?.data.attributes.name ?? name}</h1>
      <Answered query={found}>
        {({ data, included }) => (
          // A workspace that is known already is shown at once: nothing of the one before may stay.
          <Fragment key={data.id}>
            {data.attributes.description === null ? null : (
              <p dir="auto">
                <Visible text={data.attributes.description} />
              </p>
            )}
            <p className={styles.facts}>
              <span dir="auto">{projectName({ included }, data)}</span>
              <span>
                changed <Time at={data.attributes['latest-change-at']} />
              </span>
              <code>{data.id}</code>
            </p>
            <Lock workspace={data} />
            <nav aria-label="Workspace" className={styles.tabs}>
              <Link to="/$organization/workspaces/$workspace" params={params} activeOptions={{ exact: true }}>
                Outputs
              </Link>
              <Link to="/$organization/workspaces/$workspace/states" params={params}>
                History
              </Link>
              <Link to="/$organization/workspaces/$workspace/access" params={params}>
                Access
              </Link>
              <Link to="/$organization/workspaces/$workspace/settings" params={params}>
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
export function WorkspaceOutputsPage() {
  const { organization, workspace } = useParams({ from: '/shell/$organization/workspaces/$workspace/' })
  const found = useQuery(workspaceQuery(organization, workspace))
  if (found.data === undefined) return null
  const { id, attributes } = found.data.data
  const hasState = related(found.data.data, 'current-state-version') !== undefined
  return (
    <OutputsPanel
      workspaceId={id}
      mayReveal={attributes.permissions['can-read-state-outputs'] === true}
      names={{ organization, workspace: attributes.name }}
      hasState={hasState}
    />
  )
}
