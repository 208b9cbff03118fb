import { Readable } from 'node:stream'
import { notFound } from '../core/errors.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import type { ContentKind } from './state-chunk-store.ts'
import { stateVersionPlace } from '../state-versions/state-version-place.ts'
import { isContentOver, uploadOf } from '../state-versions/state-version-store.ts'

/** Memory for two chunks, each sealed and opened. */
const CHUNKS_BYTES = 1024 * 1024

function downloadRoute(kind: ContentKind, suffix: string, summary: string): Route {
  return read(stateVersionPlace, suffix, {
    permission: 'state-version:read',
    summary,
    document: ({ deps, resource, reveal }) => {
      const { stateVersion } = resource
      // The remaining chunks of a discarded version are being swept.
      if (uploadOf(stateVersion, kind) === null || isContentOver(stateVersion)) throw notFound()
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
  downloadRoute('state', '/download', 'Download a state'),
  downloadRoute('json-state', '/json-download', 'Download what `tofu show -json` made of a state'),
]
