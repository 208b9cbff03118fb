import { Type } from 'typebox'
import { closedObject, relationOne, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import { projectAccessSchemas, projectLevel, workspaceAccessSchemas } from './project-levels.ts'
import { toGrant, type TeamProjectRow } from './team-project-store.ts'

export const teamProjectDescription: ResourceDescription = {
  type: 'team-projects',
  attributes: {
    access: projectLevel,
    'project-access': closedObject(projectAccessSchemas),
    'workspace-access': closedObject(workspaceAccessSchemas),
  },
  relationships: { team: relationOne('teams'), project: relationOne('projects') },
  links: { self: Type.String() },
}

/** The only function that builds `"type": "team-projects"`. Only for teams that the caller can see. */
export function teamProjectFragment(row: TeamProjectRow): Fragment {
  const { access, details } = toGrant(row)
  return fragment({
    id: row.id,
    type: 'team-projects',
    attributes: { access, 'project-access': details.project, 'workspace-access': details.workspace },
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
