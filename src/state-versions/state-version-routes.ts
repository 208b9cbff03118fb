import type { Target } from '../access/decide.ts'
import { AppError, notFound } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { isName } from '../core/names.ts'
import { ok, type Answer, type Call } from '../http/call.ts'
import { readRoute, type Permitted, type Reveal, type Route } from '../http/route.ts'
import { document, listDocument, type Fragment } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { loadWorkspace } from '../workspaces/workspaces.ts'
import { includedOutputs } from './included-outputs.ts'
import { loadStateVersion } from './state-version-access.ts'
import { statuses, stateVersionFragments } from './state-version-document.ts'
import { findStateVersion, listStateVersions, type StateVersionRow } from './state-version-store.ts'
import { choice, includes } from '../jsonapi/parameters.ts'

const includable = ['outputs'] as const
type Includes = ReadonlySet<(typeof includable)[number]>

type Reading = Permitted<unknown, { target: Target }> & { reveal: (event: Reveal) => void }

/** One state version, with its outputs on request: real values if the caller may read them, otherwise null. */
async function stateVersionAnswer(
  context: Reading,
  row: StateVersionRow,
  include: Includes,
): Promise<Answer> {
  const { tx, deps, actor, standing, resource, call } = context
  const viewer = { actor, standing, target: resource.target }
  const addresses = { origin: call.origin, secretKey: deps.config.secretKey }
  const later = new LaterParts()
  const outputs = include.has('outputs')
    ? await includedOutputs({ ...context, later }, resource.target, row, 'single')
    : undefined
  const [text] = await stateVersionFragments(tx, [row], viewer, addresses, outputs?.identifiers)
  return ok(later.bodyOf(document(text as Fragment, outputs?.included)))
}

const filters = ['filter[organization][name]', 'filter[workspace][name]', 'filter[status]'] as const

const listVersions = readRoute({
  path: '/state-versions',
  permission: 'state-version:read',
  summary: 'List the state versions of a workspace, newest first',
  query: {
    'filter[organization][name]': { description: 'Name of the organization', isRequired: true },
    'filter[workspace][name]': { description: 'Name of the workspace', isRequired: true },
    'filter[status]': choice('State versions with this status', ...statuses),
  },
  answers: 'state-versions',
  isList: true,
  address: ({ query }) => {
    query.include([])
    const page = query.page()
    const [organization, workspace, status] = filters.map((name) => query.text(name))
    const missing = filters.slice(0, 2).filter((name) => !query.has(name))
    const problems = missing.map((name) => ({ detail: `${name} is missing`, parameter: name }))
    if (status !== undefined && !(statuses as readonly string[]).includes(status)) {
      const parameter = 'filter[status]'
      problems.push({ detail: `${parameter} must be ${statuses.join(' or ')}`, parameter })
    }
    if (problems.length > 0) throw new AppError('invalid-query', problems)
    if (!isName(organization as string) || !isName(workspace as string)) return undefined
    return {
      organizationName: organization as string,
      workspaceName: workspace as string,
      status,
      page,
      links: query.withoutPage(filters),
    }
  },
  load: (context) => loadWorkspace(context, context.address),
  document: async (context) => {
    const { tx, deps, actor, standing, address, resource, call } = context
    const { rows, total } = await listStateVersions(tx, resource.workspace.id, address.status, address.page)
    const viewer = { actor, standing, target: resource.target }
    const addresses = { origin: call.origin, secretKey: deps.config.secretKey }
    const fragments = await stateVersionFragments(tx, rows, viewer, addresses)
    return ok(listDocument(fragments, pagingOf(call.path, address.links, address.page, total)))
  },
})

const showVersion = readRoute({
  path: '/state-versions/:state_version_id',
  permission: 'state-version:read',
  summary: 'Show a state version',
  query: { include: includes('outputs') },
  answers: 'state-versions',
  address: (call) => {
    const include = call.query.include(includable)
    const id = parseId('stateVersion', call.params.state_version_id as string)
    return id === undefined ? undefined : { id, include }
  },
  load: (context) => loadStateVersion(context, context.address.id, findStateVersion),
  document: (context) => stateVersionAnswer(context, context.resource.stateVersion, context.address.include),
})

const showCurrent = readRoute({
  path: '/workspaces/:workspace_id/current-state-version',
  permission: 'state-version:read',
  summary: 'Show the current state version of a workspace',
  query: { include: includes('outputs') },
  answers: 'state-versions',
  address: (call: Call) => {
    const include = call.query.include(includable)
    const id = parseId('workspace', call.params.workspace_id as string)
    return id === undefined ? undefined : { id, include }
  },
  load: (context) => loadWorkspace(context, { workspaceId: context.address.id }),
  document: async (context) => {
    const { current_state_version_id: id } = context.resource.workspace
    const row = id === null ? undefined : await findStateVersion(context.tx, id)
    if (row === undefined) throw notFound()
    return stateVersionAnswer(context, row, context.address.include)
  },
})

export const stateVersionRoutes: readonly Route[] = [listVersions, showVersion, showCurrent]
