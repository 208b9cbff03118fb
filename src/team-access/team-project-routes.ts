import { Type } from 'typebox'
import { placeOfProject } from '../effective-access/places.ts'
import { loadProject } from '../projects/project-place.ts'
import {
  changeProjectGrant,
  projectAccessSchemas,
  projectLevel,
  workspaceAccessSchemas,
} from './project-levels.ts'
import { teamAccessRoutes } from './team-access-routes.ts'
import { teamProjectFragment } from './team-project-document.ts'
import { teamProjectStore, toColumns, toGrant } from './team-project-store.ts'

export const teamProjectRoutes = teamAccessRoutes({
  ...teamProjectStore,
  thing: 'project',
  idKind: 'teamProject',
  permissions: { place: 'project:read', read: 'project-access:read', manage: 'project-access:manage' },
  // pytfe sends this type.
  otherTypes: ['team-project-access'],
  attributes: {
    access: projectLevel,
    // Clients send these empty together with a fixed level.
    'project-access': Type.Partial(Type.Object(projectAccessSchemas)),
    'workspace-access': Type.Partial(Type.Object(workspaceAccessSchemas)),
  },
  askedOf: ({ access, 'project-access': project = {}, 'workspace-access': workspace = {} }) => ({
    access,
    project,
    workspace,
  }),
  loadPlace: loadProject,
  placeOf: ({ project }) => placeOfProject(project),
  placeIdOf: (row) => row.project_id,
  insert: (tx, keys, projectId, grant) =>
    teamProjectStore.insert(tx, { ...keys, project_id: projectId, ...toColumns(grant) }),
  update: (tx, id, grant) => teamProjectStore.update(tx, id, toColumns(grant)),
  grantOf: toGrant,
  change: changeProjectGrant,
  fragment: teamProjectFragment,
})
