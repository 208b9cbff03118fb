import { placeOfProject } from '../effective-access/places.ts'
import { loadProject } from '../projects/project-place.ts'
import { changeProjectGrant } from './project-levels.ts'
import { teamAccessRoutes } from './team-access-routes.ts'
import { teamProjectFragment } from './team-project-document.ts'
import {
  deleteTeamProject,
  findTeamProject,
  insertTeamProject,
  listTeamProjects,
  toColumns,
  toGrant,
  updateTeamProject,
} from './team-project-store.ts'
import {
  newTeamProjectBody,
  parseNewTeamProject,
  parseTeamProject,
  teamProjectBody,
} from './team-projects.ts'

export const teamProjectRoutes = teamAccessRoutes({
  thing: 'project',
  idKind: 'teamProject',
  permissions: { place: 'project:read', read: 'project-access:read', manage: 'project-access:manage' },
  newBody: newTeamProjectBody,
  body: teamProjectBody,
  parseNew: parseNewTeamProject,
  parse: parseTeamProject,
  loadPlace: loadProject,
  placeOf: ({ project }) => placeOfProject(project),
  placeIdOf: (row) => row.project_id,
  find: findTeamProject,
  list: listTeamProjects,
  insert: (tx, keys, projectId, grant) =>
    insertTeamProject(tx, { ...keys, project_id: projectId, ...toColumns(grant) }),
  update: (tx, id, grant) => updateTeamProject(tx, id, toColumns(grant)),
  remove: deleteTeamProject,
  grantOf: toGrant,
  change: changeProjectGrant,
  fragment: teamProjectFragment,
})
