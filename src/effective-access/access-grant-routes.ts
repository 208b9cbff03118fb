import { existing } from '../core/existing.ts'
import { list, type Listing } from '../http/read-route.ts'
import type { Loaded, Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { projectPlace } from '../projects/project-place.ts'
import { shownTeams } from '../team-access/shown-teams-store.ts'
import { teamPlace } from '../teams/team-place.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { accessGrantResource } from './access-grant-document.ts'
import {
  listAccessGrants,
  shownGrantsOf,
  type AccessGrantRow,
  type GrantFilter,
} from './access-grant-store.ts'
import type { On } from './levels.ts'
import { readGrants } from './team-grants.ts'

export const accessGrantRoutes: readonly Route[] = [
  list(teamPlace, '/access-grants', {
    permission: 'team:read',
    summary: 'List all grants of a team on workspaces and projects that the caller may see',
    answers: 'access-grants',
    isPolled: true,
    document: async (context) => {
      const { organization, target } = context.resource
      const { team } = target
      await context.willLookAt(() => countWorkspaces(context.tx, organization.id))
      const shown = shownGrantsOf(context.tx, team, context)
      return grantsDocument(context, { teamId: team.id, shown }, ({ on }) => on)
    },
  }),

  list(workspacePlace, '/access-grants', {
    permission: 'workspace:read',
    summary: 'List the grants that give access to a workspace, on it and on its project',
    answers: 'access-grants',
    isPolled: true,
    document: async (context) => {
      const { tx, deps, actor, standing, resource } = context
      const { organization, workspace } = resource
      await context.willLookAt(() => organization.teams_count)
      const { grants = 0 } = resource.target
      const ofProject = await deps.grants.onProject(tx, actor, organization, workspace.project_id)
      const shown = {
        onWorkspaces: shownTeams('team-access:read', { actor, standing, grants }),
        onProjects: shownTeams('project-access:read', { actor, standing, grants: ofProject }),
      }
      const filter = { workspaceId: workspace.id, projectId: workspace.project_id, shown }
      return grantsDocument(context, filter, () => 'workspace')
    },
  }),

  list(projectPlace, '/access-grants', {
    permission: 'project:read',
    summary: 'List the grants that give access to a project',
    answers: 'access-grants',
    isPolled: true,
    document: async (context) => {
      const { actor, standing, resource } = context
      const { grants } = resource.target
      const onProjects = shownTeams('project-access:read', { actor, standing, grants })
      const filter = { projectId: resource.project.id, shown: { onWorkspaces: undefined, onProjects } }
      return grantsDocument(context, filter, ({ on }) => on)
    },
  }),
]

async function grantsDocument(
  { tx, page, paging }: Listing<unknown, Loaded>,
  filter: GrantFilter,
  onOf: (row: AccessGrantRow) => On,
): Promise<string> {
  const { rows, total } = await listAccessGrants(tx, filter, page)
  const placesOn = (on: On) => [...new Set(rows.filter((row) => row.on === on).map(({ place_id: id }) => id))]
  const teamIds = [...new Set(rows.map(({ team_id: id }) => id))]
  const places = { workspaceIds: placesOn('workspace'), projectIds: placesOn('project') }
  const read = await readGrants(tx, teamIds, places, 'workspaces')
  const byId = new Map(
    [...read.values()]
      .flatMap(({ onWorkspaces, onProjects }) => [...onWorkspaces, ...onProjects])
      .map((grant) => [grant.id, grant]),
  )
  const fragments = rows.map((row) =>
    accessGrantResource.fragment({ row, grant: existing(byId.get(row.id)), on: onOf(row) }),
  )
  return listDocument(fragments, paging(total))
}
