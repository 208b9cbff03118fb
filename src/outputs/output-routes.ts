import { notFound } from '../core/errors.ts'
import { list, read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { outputFragment } from './output-document.ts'
import { outputPieces } from './output-pieces.ts'
import { masksLists, revealOf, revealOfMany } from './output-reveals.ts'
import { hasOutputs, readOutputs, refuseUnreadable } from './outputs.ts'
import { outputPlace, stateVersionPlace } from '../state-versions/state-version-place.ts'
import { isContentDeleted } from '../state-versions/state-version-store.ts'

export const outputRoutes: readonly Route[] = [
  list(stateVersionPlace, '/outputs', {
    permission: 'outputs:read',
    summary: 'List state version outputs',
    answers: 'state-version-outputs',
    refuses: [409],
    document: async ({ tx, deps, resource, page, paging, reveal }) => {
      const { stateVersion } = resource
      // Must come before the cache lookup: cached answers stay after the content is deleted.
      if (isContentDeleted(stateVersion)) throw notFound()
      // An empty list would look as if there were no outputs.
      refuseUnreadable(stateVersion)
      const key = `outputs ${stateVersion.id} ${page.number} ${page.size}`
      const known = deps.documents.get<Buffer>(key)
      if (known !== undefined) return known
      const from = (page.number - 1) * page.size
      const outputs = await readOutputs(tx, deps, stateVersion, from, from + page.size)
      const masking = masksLists(deps.config) ? 'values' : 'nothing'
      const total = stateVersion.resources_processed === 1 ? stateVersion.outputs_count : 0
      if (outputs === undefined) {
        const end = from + page.size
        if (masking === 'nothing') reveal(() => revealOfMany(deps, stateVersion, from, end))
        const later = new LaterParts()
        const all = later.addResources(() => outputPieces(deps, stateVersion, 'listed', masking, from, end))
        return later.bodyOf(listDocument([all], paging(total)))
      }
      const event = masking !== 'nothing' ? undefined : revealOf(stateVersion, outputs)
      const fragments = outputs.map((output) =>
        outputFragment(stateVersion.output_key, output, 'listed', masking),
      )
      const body = Buffer.from(listDocument(fragments, paging(total)))
      // Sensitive values are audited at each read, so never cached. Other answers of a processed version never change.
      if (event !== undefined) reveal(event)
      else if (stateVersion.resources_processed === 1) deps.documents.set(key, body)
      return body
    },
  }),

  read(outputPlace, '', {
    permission: 'outputs:read',
    summary: 'Show a state version output',
    answers: 'state-version-outputs',
    refuses: [409],
    document: async ({ tx, deps, address, resource, reveal }) => {
      const { stateVersion } = resource
      const { position } = address
      refuseUnreadable(stateVersion)
      if (!hasOutputs(stateVersion) || position >= stateVersion.outputs_count) throw notFound()
      const key = `output ${stateVersion.id} ${position}`
      const known = deps.documents.get<Buffer>(key)
      if (known !== undefined) return known
      const outputs = await readOutputs(tx, deps, stateVersion, position, position + 1)
      const [output] = outputs ?? []
      if (outputs === undefined || output === undefined) {
        reveal(() => revealOfMany(deps, stateVersion, position, position + 1))
        const later = new LaterParts()
        const one = later.addResources(() =>
          outputPieces(deps, stateVersion, 'single', 'nothing', position, position + 1),
        )
        return later.bodyOf(document(one))
      }
      const body = Buffer.from(document(outputFragment(stateVersion.output_key, output, 'single', 'nothing')))
      const event = revealOf(stateVersion, outputs)
      if (event !== undefined) reveal(event)
      else deps.documents.set(key, body)
      return body
    },
  }),
]
