import type { Change } from './changes.ts'

export type GrantPlace = { readonly type: 'workspaces' | 'projects'; readonly id: string }

/** Gives a team a grant on a place. */
export function newGrant({ type, id }: GrantPlace, teamId: string, attributes: object): Change {
  const relationships = {
    team: { data: { type: 'teams', id: teamId } },
    [type === 'workspaces' ? 'workspace' : 'project']: { data: { type, id } },
  }
  return {
    method: 'POST',
    path: `/team-${type}`,
    body: { data: { type: `team-${type}`, attributes, relationships } },
  }
}

/** Changes what a grant gives. */
export function changedGrant(on: GrantPlace['type'], id: string, attributes: object): Change {
  return {
    method: 'PATCH',
    path: `/team-${on}/${id}`,
    body: { data: { type: `team-${on}`, id, attributes } },
  }
}

/** Puts people into a team, or takes them out of it. */
export function memberChange(method: 'POST' | 'DELETE', teamId: string, membershipIds: string[]): Change {
  return {
    method,
    path: `/teams/${teamId}/relationships/organization-memberships`,
    body: { data: membershipIds.map((id) => ({ type: 'organization-memberships', id })) },
  }
}
