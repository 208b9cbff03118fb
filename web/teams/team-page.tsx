import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { teamQuery } from './team-query.ts'

/** A team, and its tabs. */
export function TeamPage() {
  const params = useParams({ from: '/shell/$organization/settings/teams/$team' })
  const team = useQuery(teamQuery(params.team))
  return (
    <>
      <h1 dir="auto">{team.data?.data.attributes.name ?? 'Team'}</h1>
      <Answered query={team}>
        {({ data: { id, attributes } }) => (
          // A team that is known already is shown at once: nothing of the one before may stay.
          <Fragment key={id}>
            <p className={styles.facts}>
              {attributes.visibility === 'secret' ? (
                <span className={styles.secret}>secret</span>
              ) : (
                <span>visible in the organization</span>
              )}
              <code>{id}</code>
            </p>
            <nav aria-label="Team" className={styles.tabs}>
              <Link to="/$organization/settings/teams/$team" params={params} activeOptions={{ exact: true }}>
                Members
              </Link>
              <Link to="/$organization/settings/teams/$team/permissions" params={params}>
                Permissions
              </Link>
              <Link to="/$organization/settings/teams/$team/access" params={params}>
                Access
              </Link>
              <Link to="/$organization/settings/teams/$team/tokens" params={params}>
                Tokens
              </Link>
              <Link to="/$organization/settings/teams/$team/settings" params={params}>
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
