import { dryRunOfPlaces } from '../effective-access/place-dry-run.ts'
import { placeOf } from '../effective-access/places.ts'
import { done } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { moveWorkspaces } from '../workspaces/workspace-store.ts'
import { namedWorkspaces, readWorkspaceIds } from '../workspaces/workspaces.ts'
import { projectPlace } from './project-place.ts'

export const projectMoveRoutes: readonly Route[] = [
  // For callers who may create workspaces here and manage the workspaces they name. All of them move, or none. A project
  // grant applies to the workspaces in the project, so a move changes access.
  write(projectPlace, '/relationships/workspaces', {
    method: 'POST',
    status: 204,
    permission: 'workspace:create',
    summary: 'Move workspaces into a project',
    accepts: { identifiers: 'workspaces' },
    body: readWorkspaceIds,
    dryRun: async (context) => {
      const { organization, project } = context.resource
      // The write refuses a workspace that the caller may not move.
      const named = await namedWorkspaces(context, organization, context.body.ids, 'workspace:manage', [])
      const known = new Map(named.map((workspace) => [workspace.id, workspace]))
      const places = [...known.values()].map(placeOf)
      return dryRunOfPlaces(context, { organization, id: project.id, places, newProjectId: project.id })
    },
    problems: async (context) => {
      const { resource, body, problems } = context
      if (body.ids.length === 0) problems.push({ detail: 'data must name a workspace', pointer: '/data' })
      return namedWorkspaces(context, resource.organization, body.ids, 'workspace:manage', problems)
    },
    act: async ({ tx, resource, checked, now }) => {
      const { project } = resource
      const moved = checked.filter((workspace) => workspace.project_id !== project.id)
      const ids = [...new Set(moved.map(({ id }) => id))]
      await moveWorkspaces(tx, ids, project.id, now)
      const workspaces = moved.map((workspace) => ({ id: workspace.id, from: workspace.project_id }))
      return done(project, {
        action: 'project.move-workspaces',
        details: { name: project.name, workspaces },
      })
    },
  }),
]
