import { Readable } from 'node:stream'
import { AppError, notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { JSON_API, type Answer } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { readRoute, type Route } from '../http/route.ts'
import type { DocumentCache } from '../jsonapi/document-cache.ts'
import { listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOfWhole } from '../jsonapi/paging.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { isMadeAtOnce } from './included-outputs.ts'
import { outputFragment, type PlacedOutput } from './output-document.ts'
import { outputsInTurn, readOutputs } from './outputs.ts'
import { findStateVersion, type StateVersionRow } from './state-version-store.ts'

const currentOutputs = readRoute({
  path: '/workspaces/:workspace_id/current-state-version-outputs',
  permission: 'outputs:read-current',
  summary: 'Show current state version outputs for a workspace',
  answers: 'state-version-outputs',
  isList: true,
  address: (call) => {
    const id = parseId('workspace', call.params.workspace_id as string)
    return id === undefined ? undefined : { id }
  },
  load: (context) => loadWorkspace(context, { workspaceId: context.address.id }),
  document: async ({ tx, deps, resource, call }): Promise<Answer> => {
    const { current_state_version_id: id } = resource.workspace
    if (id === null) throw notFound()
    const key = `current outputs ${id}`
    let body: Buffer | Readable | undefined = deps.documents.get<Buffer>(key)
    if (body === undefined) {
      const stateVersion = await findStateVersion(tx, id)
      if (stateVersion === undefined) throw notFound()
      if (stateVersion.resources_processed === 0) {
        throw new AppError('unavailable', [{ detail: 'the outputs are still being processed; try again' }])
      }
      const later = new LaterParts()
      const { outputs_count: count } = stateVersion
      const paging = pagingOfWhole(call.path, [], count, count)
      if (isMadeAtOnce(stateVersion, later)) {
        const outputs = await readOutputs(tx, deps, stateVersion)
        body = Buffer.from(listDocument(fragmentsOf(stateVersion, outputs), paging))
        deps.documents.set(key, body)
      } else {
        const all = later.add(async function* () {
          for await (const outputs of outputsInTurn(deps, stateVersion)) {
            yield fragmentsOf(stateVersion, outputs).join(',')
          }
        })
        const pieces = later.piecesOf(listDocument([JSON.stringify(all)], paging))
        body = Readable.from(kept(deps, key, pieces), { objectMode: false })
      }
    }
    return {
      status: 200,
      body,
      headers: { 'content-type': JSON_API, 'cache-control': 'private, no-cache', etag: `"${id}"` },
    }
  },
})

function fragmentsOf({ output_key: key }: StateVersionRow, outputs: readonly PlacedOutput[]): string[] {
  return outputs.map((output) => outputFragment(key, output, 'single', true))
}

/** Caches for which a document is being held while it is sent: one at a time, so that not every reader holds one. */
const keeping = new WeakSet<DocumentCache>()

/** Keeps what goes by, unless it is more than is kept of anything. */
async function* kept({ documents }: Deps, key: string, parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const isKeeper = !keeping.has(documents)
  if (isKeeper) keeping.add(documents)
  try {
    const gone: Buffer[] = []
    let size = 0
    for await (const part of parts) {
      size += part.length
      if (isKeeper && size <= documents.limitBytesOfOne) gone.push(part)
      else gone.length = 0
      yield part
    }
    if (isKeeper && size <= documents.limitBytesOfOne) documents.set(key, Buffer.concat(gone))
  } finally {
    if (isKeeper) keeping.delete(documents)
  }
}

export const currentOutputRoutes: readonly Route[] = [currentOutputs]
