import { Type } from 'typebox'
import { parseResource, toOne, type ReadBody } from '../jsonapi/body.ts'
import {
  projectAccessSchemas,
  projectLevel,
  workspaceAccessSchemas,
  type AskedProjectGrant,
} from './project-levels.ts'

const attributes = {
  access: projectLevel,
  // Clients send these empty together with a fixed level.
  'project-access': Type.Partial(Type.Object(projectAccessSchemas)),
  'workspace-access': Type.Partial(Type.Object(workspaceAccessSchemas)),
}

// pytfe sends this type.
const otherTypes = ['team-project-access']

export const teamProjectBody = { type: 'team-projects', otherTypes, attributes }
export const newTeamProjectBody = {
  type: 'team-projects',
  otherTypes,
  attributes,
  required: ['access'] as const,
  relationships: { team: toOne('teams'), project: toOne('projects') },
  requiredRelationships: ['team', 'project'] as const,
}

type NewTeamProject = AskedProjectGrant & { teamId: string; placeId: string }

function askedGrant(given: ReadBody<typeof teamProjectBody>['attributes']): AskedProjectGrant {
  return {
    access: given.access,
    project: given['project-access'] ?? {},
    workspace: given['workspace-access'] ?? {},
  }
}

export function parseTeamProject(bytes: Uint8Array, pathId: string | undefined): AskedProjectGrant {
  return askedGrant(parseResource(bytes, teamProjectBody, pathId).attributes)
}

export function parseNewTeamProject(bytes: Uint8Array): NewTeamProject {
  const { attributes, relationships } = parseResource(bytes, newTeamProjectBody)
  const { team, project } = relationships
  return { ...askedGrant(attributes), teamId: team.data.id, placeId: project.data.id }
}
