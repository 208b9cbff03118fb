import { isPermitted, canSeeTeam, type ColumnSet } from '../access/decide.ts'
import type { Permission } from '../access/rules.ts'
import { invalid } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Viewer } from '../http/route.ts'
import { parseResource, toOne } from '../jsonapi/body.ts'
import { findTeam, teamFacts, type TeamRow } from '../teams/team-store.ts'
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

export type AskedGrant = { access?: WorkspaceLevel; details: Partial<WorkspaceDetails> }
export type NewTeamWorkspace = AskedGrant & { teamId: string; workspaceId: string }

function askedGrant({ access, ...details }: AskedGrant['details'] & { access?: WorkspaceLevel }): AskedGrant {
  return access === undefined ? { details } : { access, details }
}

export function parseTeamWorkspace(bytes: Uint8Array, pathId: string): AskedGrant {
  return askedGrant(parseResource(bytes, teamWorkspaceBody, pathId).attributes)
}

export function parseNewTeamWorkspace(bytes: Uint8Array): NewTeamWorkspace {
  const { attributes, relationships } = parseResource(bytes, newTeamWorkspaceBody)
  const { team, workspace } = relationships as Required<typeof relationships>
  return { ...askedGrant(attributes), teamId: team.data.id, workspaceId: workspace.data.id }
}

/** The team that a body gives access to; one that the caller cannot see, or may not give it to, is as good as missing. */
export async function teamToGrant(
  { tx, actor, standing }: Viewer,
  permission: Permission,
  place: { organizationId: string; grants: ColumnSet; teamId: string },
): Promise<TeamRow> {
  const id = parseId('team', place.teamId)
  const team = id === undefined ? undefined : await findTeam(tx, id)
  if (team !== undefined && team.organization_id === place.organizationId) {
    const facts = teamFacts(team)
    const target = { team: facts, grants: place.grants }
    if (canSeeTeam(standing, facts) && isPermitted(permission, actor, standing, target)) return team
  }
  throw invalid(
    'team must be one of the organization that you can give access to',
    '/data/relationships/team',
  )
}
