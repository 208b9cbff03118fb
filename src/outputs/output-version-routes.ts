import { isPermitted } from '../access/decide.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { namesOfCreators } from '../state-versions/state-version-creator-store.ts'
import { listStateVersions, storedStatuses } from '../state-versions/state-version-store.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { outputVersionFragment } from './output-version-document.ts'

export const outputVersionRoutes: readonly Route[] = [
  list(workspacePlace, '/output-versions', {
    permission: 'outputs:read',
    summary: 'List the state versions of a workspace for those who may read outputs, newest first',
    answers: 'output-versions',
    isPolled: true,
    document: async ({ tx, actor, standing, resource, page, paging }) => {
      const readsStates = isPermitted('state-version:read', actor, standing, resource.target)
      const { rows, total } = await listStateVersions(
        tx,
        resource.workspace.id,
        readsStates ? undefined : storedStatuses,
        page,
      )
      const names = await namesOfCreators(tx, resource.workspace.organization_id, rows, standing)
      const fragments = rows.map((row) =>
        outputVersionFragment({ row, creator: names.get(row.created_by_id ?? '') }),
      )
      return listDocument(fragments, paging(total))
    },
  }),
]
