import { timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { noContent } from '../http/call.ts'
import { writeRoute, type Route } from '../http/route.ts'
import { parseIdentifiers } from '../jsonapi/body.ts'
import { bumpVersion } from '../organizations/organization-store.ts'
import { refuseUnknown } from '../tags/tags.ts'
import { moveWorkspaces } from '../workspaces/workspace-store.ts'
import { namedWorkspaces } from '../workspaces/workspaces.ts'
import { loadProject } from './projects.ts'

const MAX_IN_A_REQUEST = 1000

/** For callers who may create workspaces here and manage the workspaces they name. All of them move, or none. */
const move = writeRoute({
  method: 'POST',
  path: '/projects/:project_id/relationships/workspaces',
  permission: 'workspace:create',
  summary: 'Move workspaces into a project',
  status: 204,
  accepts: { identifiers: 'workspaces' },
  address: ({ params }) => {
    const id = parseId('project', params.project_id as string)
    return id === undefined ? undefined : { id }
  },
  load: (context) => loadProject(context, context.address.id),
  body: (bytes) => parseIdentifiers(bytes, 'workspaces', MAX_IN_A_REQUEST),
  act: async (context) => {
    const { tx, deps, resource, body, audit } = context
    const { organization, project } = resource
    if (body.length === 0) throw invalid('data must name a workspace', '/data')
    const named = await namedWorkspaces(context, organization, body, 'workspace:manage')
    const places = body.map((_, place) => ({ place }))
    refuseUnknown(places, named, 'must be a workspace of the organization that you can manage')
    const moved = named.flatMap((workspace) =>
      workspace === undefined || workspace.project_id === project.id ? [] : [workspace],
    )
    const ids = [...new Set(moved.map(({ id }) => id))]
    await moveWorkspaces(tx, ids, project.id, timestamp(deps.clock.now()))
    // A project grant applies to the workspaces in the project, so a move changes permissions.
    await bumpVersion(tx, organization.id)
    audit({
      action: 'project.move-workspaces',
      organizationId: organization.id,
      resourceType: 'projects',
      resourceId: project.id,
      details: {
        name: project.name,
        workspaces: moved.map((workspace) => ({ id: workspace.id, from: workspace.project_id })),
      },
    })
    return noContent
  },
})

export const projectMoveRoutes: readonly Route[] = [move]
