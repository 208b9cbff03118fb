import { notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { ok } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { outputFragment } from './output-document.ts'
import { parseOutputId } from './output-ids.ts'
import { hasOutputs, readOutputs, revealOf } from './outputs.ts'
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
  load: async (context) => {
    const found = await loadStateVersion(context, context.address.id, findStateVersion)
    // Before anything that is kept by the version's id is looked for.
    return found === undefined || isContentDeleted(found.stateVersion) ? undefined : found
  },
  document: async ({ tx, deps, address, resource, call, reveal }) => {
    const { stateVersion } = resource
    const { page } = address
    const key = `outputs ${stateVersion.id} ${page.number} ${page.size}`
    const kept = deps.documents.get<Buffer>(key)
    if (kept !== undefined) return ok(kept)
    const from = (page.number - 1) * page.size
    const outputs = await readOutputs(tx, deps, stateVersion, from, from + page.size)
    const isMasked = deps.config.maskListedOutputs
    const event = isMasked ? undefined : revealOf(stateVersion, outputs)
    const fragments = outputs.map((output) =>
      outputFragment(stateVersion.output_key, output, 'listed', isMasked),
    )
    const total = stateVersion.resources_processed === 1 ? stateVersion.outputs_count : 0
    const body = Buffer.from(listDocument(fragments, pagingOf(call.path, [], page, total)))
    // What reveals is audited each time and never kept; the rest of a processed version does not change any more.
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
  load: async (context) => {
    const { address } = context
    const found = await loadStateVersion(context, address.outputKey, findStateVersionByOutputKey)
    if (found === undefined || !hasOutputs(found.stateVersion)) return undefined
    return address.position < found.stateVersion.outputs_count ? found : undefined
  },
  document: async ({ tx, deps, address, resource, reveal }) => {
    const { stateVersion } = resource
    const { position } = address
    const key = `output ${stateVersion.id} ${position}`
    const kept = deps.documents.get<Buffer>(key)
    if (kept !== undefined) return ok(kept)
    const outputs = await readOutputs(tx, deps, stateVersion, position, position + 1)
    const [output] = outputs
    if (output === undefined) throw notFound()
    const body = Buffer.from(document(outputFragment(stateVersion.output_key, output, 'single', false)))
    const event = revealOf(stateVersion, outputs)
    if (event !== undefined) reveal(event)
    else deps.documents.set(key, body)
    return ok(body)
  },
})

export const outputRoutes: readonly Route[] = [listOutputs, showOutput]
