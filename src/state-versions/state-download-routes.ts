import { Readable } from 'node:stream'
import { notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Answer, Call } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import type { ContentKind } from './state-chunk-store.ts'
import { loadStateVersion } from './state-version-access.ts'
import { findStateVersion, isContentDeleted } from './state-version-store.ts'

/** Memory for two chunks, each sealed and opened. */
const CHUNKS_BYTES = 1024 * 1024

function downloadRoute(kind: ContentKind, path: string, summary: string): Route {
  return readRoute({
    path: `/state-versions/:state_version_id/${path}`,
    permission: 'state-version:read',
    summary,
    address: (call: Call) => {
      const id = parseId('stateVersion', call.params.state_version_id as string)
      return id === undefined ? undefined : { id }
    },
    load: (context) => loadStateVersion(context, context.address.id, findStateVersion),
    document: async ({ deps, resource, reveal }): Promise<Answer> => {
      const { stateVersion } = resource
      const uploadId = kind === 'state' ? stateVersion.upload_id : stateVersion.json_upload_id
      // The remaining chunks of a discarded version are being swept.
      const isOver = stateVersion.status === 'discarded' || isContentDeleted(stateVersion)
      if (uploadId === null || isOver) throw notFound()
      // A state contains all sensitive values.
      reveal({
        action: 'state-version.download',
        organizationId: stateVersion.organization_id,
        resourceType: 'state-versions',
        resourceId: stateVersion.id,
        details: { content: kind, serial: stateVersion.serial, 'workspace-id': stateVersion.workspace_id },
      })
      return {
        status: 200,
        streamBytes: CHUNKS_BYTES,
        body: Readable.from(deps.states.content(stateVersion, kind), { objectMode: false }),
        headers: {
          'content-type': 'application/json',
          'cache-control': 'no-store',
          ...(kind === 'state' ? { 'content-length': String(stateVersion.size) } : {}),
        },
      }
    },
  })
}

export const stateDownloadRoutes: readonly Route[] = [
  downloadRoute('state', 'download', 'Download a state'),
  downloadRoute('json-state', 'json-download', 'Download what `tofu show -json` made of a state'),
]
