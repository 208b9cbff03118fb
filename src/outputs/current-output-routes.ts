import { Readable } from 'node:stream'
import { isPermitted } from '../access/decide.ts'
import { notFound } from '../core/errors.ts'
import { tagged } from '../http/call.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOfWhole } from '../jsonapi/paging.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { isMadeAtOnce } from './included-outputs.ts'
import { outputFragment } from './output-document.ts'
import { outputPieces } from './output-pieces.ts'
import { readOutputs, refuseUnreadable } from './outputs.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'

export const currentOutputRoutes: readonly Route[] = [
  read(workspacePlace, '/current-state-version-outputs', {
    permission: 'outputs:read-current',
    summary: 'Show current state version outputs for a workspace',
    answers: 'state-version-outputs',
    refuses: [409],
    isList: true,
    isUnpaged: true,
    document: async ({ tx, deps, resource, call, actor, standing }) => {
      const { current_state_version_id: id } = resource.workspace
      if (id === null) throw notFound()
      const mayRead = isPermitted('outputs:read', actor, standing, resource.target)
      const masking = mayRead ? 'values' : 'values and shapes'
      // Callers who may read the values get another document, so its ETag and cache key differ: no one else may get it.
      const tag = mayRead ? id : `${id}-masked`
      const key = `current outputs ${tag}`
      let body: Buffer | Readable | undefined = deps.documents.get<Buffer>(key)
      if (body === undefined) {
        const stateVersion = await findStateVersion(tx, id)
        if (stateVersion === undefined) throw notFound()
        refuseUnreadable(stateVersion)
        const later = new LaterParts()
        const { outputs_count: count } = stateVersion
        const paging = pagingOfWhole(call.path, [], count, count)
        const outputs = isMadeAtOnce(stateVersion, later)
          ? await readOutputs(tx, deps, stateVersion)
          : undefined
        if (outputs !== undefined) {
          const fragments = outputs.map((one) =>
            outputFragment(stateVersion.output_key, one, 'single', masking),
          )
          body = Buffer.from(listDocument(fragments, paging))
          deps.documents.set(key, body)
        } else {
          const all = later.addResources(() => outputPieces(deps, stateVersion, 'single', masking))
          const pieces = later.piecesOf(listDocument([all], paging))
          body = Readable.from(deps.documents.keepWhileSent(key, pieces), { objectMode: false })
        }
      }
      return tagged(tag, body)
    },
  }),
]
