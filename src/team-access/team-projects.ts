import { Type } from 'typebox'
import { parseResource, toOne } from '../jsonapi/body.ts'
import {
  projectAccessSchemas,
  projectLevel,
  workspaceAccessSchemas,
  type AskedProjectGrant,
  type ProjectAccess,
  type ProjectLevel,
  type WorkspaceAccess,
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

type GivenAttributes = {
  access?: ProjectLevel
  'project-access'?: Partial<ProjectAccess>
  'workspace-access'?: Partial<WorkspaceAccess>
}

function askedGrant(given: GivenAttributes): AskedProjectGrant {
  return {
    ...(given.access === undefined ? {} : { access: given.access }),
    project: known(given['project-access'], projectAccessSchemas),
    workspace: known(given['workspace-access'], workspaceAccessSchemas),
  }
}

/** Unknown members of the object are ignored, as elsewhere. */
function known<T extends object>(given: Partial<T> | undefined, schemas: Record<keyof T & string, unknown>) {
  const entries = Object.entries(given ?? {}).filter(([name]) => Object.hasOwn(schemas, name))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a part of the members of T
  return Object.fromEntries(entries) as Partial<T>
}

export function parseTeamProject(bytes: Uint8Array, pathId: string | undefined): AskedProjectGrant {
  return askedGrant(parseResource(bytes, teamProjectBody, pathId).attributes)
}

export function parseNewTeamProject(bytes: Uint8Array): NewTeamProject {
  const { attributes, relationships } = parseResource(bytes, newTeamProjectBody)
  const { team, project } = relationships
  return { ...askedGrant(attributes), teamId: team.data.id, placeId: project.data.id }
}
