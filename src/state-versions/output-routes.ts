import { notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { ok } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { outputFragment } from './output-document.ts'
import { parseOutputId } from './output-ids.ts'
import { outputPieces } from './output-pieces.ts'
import { revealOf, revealOfMany } from './output-reveals.ts'
import { hasOutputs, readOutputs } from './outputs.ts'
import { findStateVersion, findStateVersionByOutputKey, isContentDeleted } from './state-version-store.ts'
import { loadStateVersion } from './state-version-access.ts'

const listOutputs = readRoute({
  path: '/state-versions/:state_version_id/outputs',
  permission: 'outputs:read',
  summary: 'List state version outputs',
  answers: 'state-version-outputs',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const id = parseId('stateVersion', call.params.state_version_id as string)
    return id === undefined ? undefined : { id, page }
  },
  load: (context) => loadStateVersion(context, context.address.id, findStateVersion),
  document: async ({ tx, deps, address, resource, call, reveal }) => {
    const { stateVersion } = resource
    const { page } = address
    // Must come before the cache lookup: cached answers stay after the content is deleted.
    if (isContentDeleted(stateVersion)) throw notFound()
    const key = `outputs ${stateVersion.id} ${page.number} ${page.size}`
    const kept = deps.documents.get<Buffer>(key)
    if (kept !== undefined) return ok(kept)
    const from = (page.number - 1) * page.size
    const outputs = await readOutputs(tx, deps, stateVersion, from, from + page.size)
    const masking = deps.config.maskListedOutputs ? 'values' : 'nothing'
    const total = stateVersion.resources_processed === 1 ? stateVersion.outputs_count : 0
    const paging = pagingOf(call.path, [], page, total)
    if (outputs === undefined) {
      const end = from + page.size
      if (masking === 'nothing') reveal(() => revealOfMany(deps, stateVersion, from, end))
      const later = new LaterParts()
      const all = later.add(() => outputPieces(deps, stateVersion, 'listed', masking, from, end))
      return ok(later.bodyOf(listDocument([JSON.stringify(all)], paging)))
    }
    const event = masking !== 'nothing' ? undefined : revealOf(stateVersion, outputs)
    const fragments = outputs.map((output) =>
      outputFragment(stateVersion.output_key, output, 'listed', masking),
    )
    const body = Buffer.from(listDocument(fragments, paging))
    // Sensitive values are audited at each read, so never cached. Other answers of a processed version never change.
    if (event !== undefined) reveal(event)
    else if (stateVersion.resources_processed === 1) deps.documents.set(key, body)
    return ok(body)
  },
})

const showOutput = readRoute({
  path: '/state-version-outputs/:state_version_output_id',
  permission: 'outputs:read',
  summary: 'Show a state version output',
  answers: 'state-version-outputs',
  address: (call) => parseOutputId(call.params.state_version_output_id as string),
  load: (context) => loadStateVersion(context, context.address.outputKey, findStateVersionByOutputKey),
  document: async ({ tx, deps, address, resource, reveal }) => {
    const { stateVersion } = resource
    const { position } = address
    if (!hasOutputs(stateVersion) || position >= stateVersion.outputs_count) throw notFound()
    const key = `output ${stateVersion.id} ${position}`
    const kept = deps.documents.get<Buffer>(key)
    if (kept !== undefined) return ok(kept)
    const outputs = await readOutputs(tx, deps, stateVersion, position, position + 1)
    const [output] = outputs ?? []
    if (outputs === undefined || output === undefined) {
      reveal(() => revealOfMany(deps, stateVersion, position, position + 1))
      const later = new LaterParts()
      const one = later.add(() =>
        outputPieces(deps, stateVersion, 'single', 'nothing', position, position + 1),
      )
      return ok(later.bodyOf(document(JSON.stringify(one))))
    }
    const body = Buffer.from(document(outputFragment(stateVersion.output_key, output, 'single', 'nothing')))
    const event = revealOf(stateVersion, outputs)
    if (event !== undefined) reveal(event)
    else deps.documents.set(key, body)
    return ok(body)
  },
})

export const outputRoutes: readonly Route[] = [listOutputs, showOutput]
