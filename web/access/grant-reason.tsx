import { Link } from '@tanstack/react-router'
import type { AccessSource } from './access-grants-query.ts'

/** One source of access, with a link to where it can be changed. */
export function GrantReason({
  organization,
  source,
}: {
  readonly organization: string
  readonly source: AccessSource
}) {
  const { team } = source
  if (team === undefined) {
    return source.source === 'site-administrator' ? 'site administrator' : 'member of the organization'
  }
  const params = { organization, team: team.id }
  if (source.source === 'organization-owner') {
    return (
      <>
        owner of the organization, by the{' '}
        <Link to="/$organization/settings/teams/$team" params={params}>
          team {team.name}
        </Link>
      </>
    )
  }
  if (source.source === 'organization-access') {
    return (
      <>
        the team {team.name}:{' '}
        <Link to="/$organization/settings/teams/$team/permissions" params={params}>
          permission {source.flag} in the organization
        </Link>
      </>
    )
  }
  return (
    <>
      the team {team.name}:{' '}
      <Link to="/$organization/settings/teams/$team/access" params={params}>
        access {source.access} on {source.source === 'team-projects' ? 'the project' : 'the workspace'}
      </Link>
    </>
  )
}
