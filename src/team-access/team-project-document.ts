import { Type } from 'typebox'
import {
  closedObject,
  relationOne,
  schemasIn,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
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
  return fragment({
    id: row.id,
    type: 'team-projects',
    attributes: valuesIn(fields, toGrant(row)),
    relationships: {
      team: {
        data: { id: row.team_id, type: 'teams' },
        links: { related: `/api/v2/teams/${row.team_id}` },
      },
      project: {
        data: { id: row.project_id, type: 'projects' },
        links: { related: `/api/v2/projects/${row.project_id}` },
      },
    },
    links: { self: `/api/v2/team-projects/${row.id}` },
  })
}
