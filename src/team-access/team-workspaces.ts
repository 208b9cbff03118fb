import { parseResource, toOne } from '../jsonapi/body.ts'
import {
  detailSchemas,
  workspaceLevel,
  type WorkspaceDetails,
  type WorkspaceLevel,
} from './workspace-levels.ts'

const attributes = { access: workspaceLevel, ...detailSchemas }

export const teamWorkspaceBody = { type: 'team-workspaces', attributes }
export const newTeamWorkspaceBody = {
  type: 'team-workspaces',
  attributes,
  required: ['access'] as const,
  relationships: { team: toOne('teams'), workspace: toOne('workspaces') },
  requiredRelationships: ['team', 'workspace'] as const,
}

type AskedGrant = { access?: WorkspaceLevel; details: Partial<WorkspaceDetails> }
type NewTeamWorkspace = AskedGrant & { teamId: string; placeId: string }

function askedGrant({ access, ...details }: AskedGrant['details'] & { access?: WorkspaceLevel }): AskedGrant {
  return { access, details }
}

export function parseTeamWorkspace(bytes: Uint8Array, pathId: string | undefined): AskedGrant {
  return askedGrant(parseResource(bytes, teamWorkspaceBody, pathId).attributes)
}

export function parseNewTeamWorkspace(bytes: Uint8Array): NewTeamWorkspace {
  const { attributes, relationships } = parseResource(bytes, newTeamWorkspaceBody)
  const { team, workspace } = relationships
  return { ...askedGrant(attributes), teamId: team.data.id, placeId: workspace.data.id }
}
