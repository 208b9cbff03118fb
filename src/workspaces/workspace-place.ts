import { parseId } from '../core/ids.ts'
import { isName } from '../core/names.ts'
import type { Call } from '../http/call.ts'
import type { Loading } from '../http/route.ts'
import { loadWorkspace, type WorkspaceAddress } from './workspaces.ts'

/** The workspace that a path names by its id. */
export const workspacePlace = {
  path: '/workspaces/:workspace_id',
  type: 'workspaces',
  address: ({ params }: Call): WorkspaceAddress | undefined => {
    const workspaceId = parseId('workspace', params.workspace_id ?? '')
    return workspaceId === undefined ? undefined : { workspaceId }
  },
  load: (context: Loading<WorkspaceAddress>) => loadWorkspace(context, context.address),
}

/** The workspace that a path names by its name. */
export const namedWorkspacePlace = {
  ...workspacePlace,
  path: '/organizations/:organization_name/workspaces/:workspace_name',
  address: ({ params }: Call): WorkspaceAddress | undefined => {
    const { organization_name: organizationName = '', workspace_name: workspaceName = '' } = params
    return isName(organizationName) && isName(workspaceName) ? { organizationName, workspaceName } : undefined
  },
}
