import type { Readable } from 'node:stream'
import type { Target } from '../access/decide.ts'
import { existing } from '../core/existing.ts'
import { notFound } from '../core/errors.ts'
import { isName } from '../core/names.ts'
import { ok, type Call } from '../http/call.ts'
import { list, read, type Reading } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { choice, includes, requiredText } from '../jsonapi/parameters.ts'
import { lockHolder } from '../workspaces/workspace-locks.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { includedOutputs } from '../outputs/included-outputs.ts'
import { stateVersionFragments } from './state-version-document.ts'
import { stateVersionPlace } from './state-version-place.ts'
import { findStateVersion, listStateVersions, statuses, type StateVersionRow } from './state-version-store.ts'

const include = { include: includes('outputs') }

/** One state version, with its outputs on request: real values if the caller may read them, otherwise null. */
async function versionDocument(
  context: Reading<unknown, { target: Target }, typeof include>,
  row: StateVersionRow,
): Promise<string | Readable> {
  const { target } = context.resource
  const later = new LaterParts()
  const outputs = context.query.include.has('outputs')
    ? await includedOutputs({ ...context, later }, target, row, 'single')
    : undefined
  const [fragment] = await stateVersionFragments(context, target, [row], outputs?.identifiers)
  return later.bodyOf(document(existing(fragment), outputs?.included))
}

/** The workspace whose state versions the query asks for. */
const filteredPlace = {
  ...workspacePlace,
  path: '/state-versions',
  address: ({ query }: Call) => {
    // Throws 400: nothing can be included in this list.
    includes().read(query, 'include')
    const organizationName = query.text('filter[organization][name]') ?? ''
    const workspaceName = query.text('filter[workspace][name]') ?? ''
    return isName(organizationName) && isName(workspaceName) ? { organizationName, workspaceName } : undefined
  },
}

export const stateVersionRoutes: readonly Route[] = [
  list(filteredPlace, '', {
    permission: 'state-version:read',
    summary: 'List the state versions of a workspace, newest first',
    query: {
      'filter[organization][name]': requiredText('Name of the organization'),
      'filter[workspace][name]': requiredText('Name of the workspace'),
      'filter[status]': choice('State versions with this status', ...statuses),
    },
    answers: 'state-versions',
    isPolled: true,
    document: async (context) => {
      const { tx, actor, resource, query, page, paging } = context
      const status = query['filter[status]']
      const { rows, total } = await listStateVersions(tx, resource.workspace.id, status && [status], page)
      const fragments = await stateVersionFragments(context, resource.target, rows)
      const body = listDocument(fragments, paging(total))
      // Their creator is shown the upload URLs, which are rights by themselves, so nothing may keep the answer.
      const isCreator = rows.some((row) => row.created_by_id === lockHolder(actor).locked_by_id)
      return isCreator ? ok(body) : body
    },
  }),

  read(stateVersionPlace, '', {
    permission: 'state-version:read',
    summary: 'Show a state version',
    query: include,
    refuses: [409],
    answers: 'state-versions',
    document: (context) => versionDocument(context, context.resource.stateVersion),
  }),

  read(workspacePlace, '/current-state-version', {
    permission: 'state-version:read',
    summary: 'Show the current state version of a workspace',
    query: include,
    refuses: [409],
    answers: 'state-versions',
    document: async (context) => {
      const { current_state_version_id: id } = context.resource.workspace
      const row = id === null ? undefined : await findStateVersion(context.tx, id)
      if (row === undefined) throw notFound()
      return versionDocument(context, row)
    },
  }),
]
