import { placeOf } from '../effective-access/places.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { teamAccessRoutes } from './team-access-routes.ts'
import { teamWorkspaceFragment } from './team-workspace-document.ts'
import { teamWorkspaceStore, toColumns, toDetails } from './team-workspace-store.ts'
import { changeWorkspaceGrant, detailSchemas, workspaceLevel } from './workspace-levels.ts'

export const teamWorkspaceRoutes = teamAccessRoutes({
  ...teamWorkspaceStore,
  thing: 'workspace',
  idKind: 'teamWorkspace',
  permissions: { place: 'workspace:read', read: 'team-access:read', manage: 'team-access:manage' },
  attributes: { access: workspaceLevel, ...detailSchemas },
  askedOf: ({ access, ...details }) => ({ access, details }),
  loadPlace: (context, workspaceId) => loadWorkspace(context, { workspaceId }),
  placeOf: ({ workspace }) => placeOf(workspace),
  placeIdOf: (row) => row.workspace_id,
  insert: (tx, keys, workspaceId, grant) =>
    teamWorkspaceStore.insert(tx, { ...keys, workspace_id: workspaceId, ...toColumns(grant) }),
  update: (tx, id, grant) => teamWorkspaceStore.update(tx, id, toColumns(grant)),
  grantOf: (row) => ({ access: row.access, details: toDetails(row) }),
  change: changeWorkspaceGrant,
  fragment: teamWorkspaceFragment,
})
