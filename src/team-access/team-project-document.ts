import { Type } from 'typebox'
import {
  closedObject,
  relationOne,
  schemasIn,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { teamAccessFragment } from './team-access-document.ts'
import { projectAccessSchemas, projectLevel, workspaceAccessSchemas } from './project-levels.ts'
import { toGrant, type TeamProjectRow } from './team-project-store.ts'

const fields: Fields<ReturnType<typeof toGrant>> = {
  access: [projectLevel, ({ access }) => access],
  'project-access': [closedObject(projectAccessSchemas), ({ details }) => details.project],
  'workspace-access': [closedObject(workspaceAccessSchemas), ({ details }) => details.workspace],
}

export const teamProjectDescription: ResourceDescription = {
  type: 'team-projects',
  attributes: schemasIn(fields),
  relationships: { team: relationOne('teams'), project: relationOne('projects') },
  links: { self: Type.String() },
}

/** The only function that builds `"type": "team-projects"`. Only for teams that the caller can see. */
export function teamProjectFragment(row: TeamProjectRow): Fragment {
  return teamAccessFragment('project', row, row.project_id, valuesIn(fields, toGrant(row)))
}
