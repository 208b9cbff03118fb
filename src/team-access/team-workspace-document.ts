import { Type } from 'typebox'
import { relationOne, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { toDetails, type TeamWorkspaceRow } from './team-workspace-store.ts'
import { detailSchemas, workspaceLevel } from './workspace-levels.ts'

export const teamWorkspaceDescription: ResourceDescription = {
  type: 'team-workspaces',
  attributes: { access: workspaceLevel, ...detailSchemas },
  relationships: { team: relationOne('teams'), workspace: relationOne('workspaces') },
  links: { self: Type.String() },
}

/** The only function that builds `"type": "team-workspaces"`. Only for teams that the caller can see. */
export function teamWorkspaceFragment(row: TeamWorkspaceRow): Fragment {
  return fragment({
    id: row.id,
    type: 'team-workspaces',
    attributes: { access: row.access, ...toDetails(row) },
    relationships: {
      team: {
        data: { id: row.team_id, type: 'teams' },
        links: { related: `/api/v2/teams/${row.team_id}` },
      },
      workspace: {
        data: { id: row.workspace_id, type: 'workspaces' },
        links: { related: `/api/v2/workspaces/${row.workspace_id}` },
      },
    },
    links: { self: `/api/v2/team-workspaces/${row.id}` },
  })
}
