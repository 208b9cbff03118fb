import { Readable } from 'node:stream'
import { AppError, notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { JSON_API, type Answer } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { readRoute, type Route } from '../http/route.ts'
import type { DocumentCache } from '../jsonapi/document-cache.ts'
import { listDocument, listDocumentFrame } from '../jsonapi/document.ts'
import { pagingOfWhole } from '../jsonapi/paging.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { outputFragment, type PlacedOutput } from './output-document.ts'
import { outputsInTurn, readOutputs } from './outputs.ts'
import { findStateVersion, type StateVersionRow } from './state-version-store.ts'

/** Documents of more outputs, or of larger states, are sent while they are made, lest all others wait for them. */
const MAX_WHOLE_OUTPUTS = 1_000
const MAX_WHOLE_STATE_BYTES = 1024 * 1024

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
      if (isSmall(stateVersion)) {
        const outputs = await readOutputs(tx, deps, stateVersion)
        const paging = pagingOfWhole(call.path, [], outputs.length, outputs.length)
        body = Buffer.from(listDocument(fragmentsOf(stateVersion, outputs), paging))
        deps.documents.set(key, body)
      } else {
        const parts = kept(deps, key, pieces(deps, stateVersion, call.path))
        body = Readable.from(parts, { objectMode: false })
      }
    }
    return {
      status: 200,
      body,
      headers: { 'content-type': JSON_API, 'cache-control': 'private, no-cache', etag: `"${id}"` },
    }
  },
})

/** Outputs that came beside an encrypted state may be larger than that. */
function isSmall({ outputs_count: count, size, state_format: format }: StateVersionRow): boolean {
  return count <= MAX_WHOLE_OUTPUTS && size <= MAX_WHOLE_STATE_BYTES && format !== null
}

function fragmentsOf({ output_key: key }: StateVersionRow, outputs: readonly PlacedOutput[]): string[] {
  return outputs.map((output) => outputFragment(key, output, 'single', true))
}

/** The same document, made a block of outputs at a time. */
async function* pieces(deps: Deps, stateVersion: StateVersionRow, path: string): AsyncGenerator<Buffer> {
  const count = stateVersion.outputs_count
  const { before, after } = listDocumentFrame(pagingOfWhole(path, [], count, count))
  let start = before
  for await (const outputs of outputsInTurn(deps, stateVersion)) {
    yield Buffer.from(start + fragmentsOf(stateVersion, outputs).join(','))
    start = ','
  }
  yield Buffer.from((count === 0 ? before : '') + after)
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
