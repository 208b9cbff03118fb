import { Type } from 'typebox'
import { relationOne, type ResourceDescription } from '../jsonapi/description.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { teamAccessFragment } from './team-access-document.ts'
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
  return teamAccessFragment('workspace', row, row.workspace_id, { access: row.access, ...toDetails(row) })
}
