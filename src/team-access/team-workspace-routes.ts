import { placeOf } from '../effective-access/places.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { teamAccessRoutes } from './team-access-routes.ts'
import { teamWorkspaceFragment } from './team-workspace-document.ts'
import {
  deleteTeamWorkspace,
  findTeamWorkspace,
  insertTeamWorkspace,
  listTeamWorkspaces,
  toColumns,
  toDetails,
  updateTeamWorkspace,
} from './team-workspace-store.ts'
import {
  newTeamWorkspaceBody,
  parseNewTeamWorkspace,
  parseTeamWorkspace,
  teamWorkspaceBody,
} from './team-workspaces.ts'
import { changeWorkspaceGrant } from './workspace-levels.ts'

export const teamWorkspaceRoutes = teamAccessRoutes({
  thing: 'workspace',
  idKind: 'teamWorkspace',
  permissions: { place: 'workspace:read', read: 'team-access:read', manage: 'team-access:manage' },
  newBody: newTeamWorkspaceBody,
  body: teamWorkspaceBody,
  parseNew: parseNewTeamWorkspace,
  parse: parseTeamWorkspace,
  loadPlace: (context, workspaceId) => loadWorkspace(context, { workspaceId }),
  placeOf: ({ workspace }) => placeOf(workspace),
  placeIdOf: (row) => row.workspace_id,
  find: findTeamWorkspace,
  list: listTeamWorkspaces,
  insert: (tx, keys, workspaceId, grant) =>
    insertTeamWorkspace(tx, { ...keys, workspace_id: workspaceId, ...toColumns(grant) }),
  update: (tx, id, grant) => updateTeamWorkspace(tx, id, toColumns(grant)),
  remove: deleteTeamWorkspace,
  grantOf: (row) => ({ access: row.access, details: toDetails(row) }),
  change: changeWorkspaceGrant,
  fragment: teamWorkspaceFragment,
})
