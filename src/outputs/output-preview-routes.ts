import { isPermitted } from '../access/decide.ts'
import { AppError, invalidQuery, notFound } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import { ReadAgain } from '../database/read-again.ts'
import { tagged, type Answer, type Call } from '../http/call.ts'
import { list, type Listing } from '../http/read-route.ts'
import type { Loaded, Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { text } from '../jsonapi/parameters.ts'
import { stateVersionPlace } from '../state-versions/state-version-place.ts'
import {
  findStateVersion,
  neighboursOf,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { outputChanges } from './output-changes.ts'
import type { Masking } from './output-document.ts'
import { previewPage, type Outputs } from './output-previews.ts'
import { revealOfComparison } from './output-reveals.ts'
import { outputsInTurn, readOutputs, refuseUnreadable } from './outputs.ts'

const search = { q: text('The outputs whose name contains this text, ignoring case') }
type Searching = Listing<unknown, Loaded, typeof search>

export const outputPreviewRoutes: readonly Route[] = [
  list(stateVersionPlace, '/output-previews', {
    permission: 'outputs:read',
    summary: 'List the outputs of a state version for a page, without sensitive values',
    answers: 'output-previews',
    refuses: [409],
    query: search,
    document: (context) => previews(context, context.resource.stateVersion, 'values'),
  }),

  list(workspacePlace, '/current-output-previews', {
    permission: 'outputs:read-current',
    summary: 'List the current outputs of a workspace for a page, without sensitive values',
    answers: 'output-previews',
    refuses: [409],
    query: search,
    document: async (context) => {
      const { tx, actor, standing, resource } = context
      const { current_state_version_id: id } = resource.workspace
      const stateVersion = id === null ? undefined : await findStateVersion(tx, id)
      // Nothing yet is no refusal: pages ask for it again and again.
      if (stateVersion === undefined) return tagged('none', listDocument([], context.paging(0)))
      const mayRead = isPermitted('outputs:read', actor, standing, resource.target)
      return previews(context, stateVersion, mayRead ? 'values' : 'values and shapes')
    },
  }),

  list(stateVersionPlace, '/output-changes', {
    permission: 'outputs:read',
    summary: 'List what changed in the outputs since another state version',
    answers: 'output-changes',
    refuses: [409],
    counts: ['added', 'changed', 'removed'],
    query: {
      since: text('Id of another state version of the workspace. Default: the one before'),
    },
    document: async (context) => {
      const { tx, deps, resource, query, page, paging, reveal } = context
      const { stateVersion } = resource
      requireReadable(stateVersion)
      const since = await comparedVersion(context, stateVersion, query.since)
      const olds = since === undefined ? [] : await readOutputs(tx, deps, since)
      const news = await readOutputs(tx, deps, stateVersion)
      const tag = `${since?.id ?? 'none'}-${stateVersion.id}`
      const compare = (before: Outputs, after: Outputs) =>
        outputChanges(
          since && { outputKey: since.output_key, outputs: before },
          { outputKey: stateVersion.output_key, outputs: after },
          page,
        )
      const { fragments, added, changed, removed, compared } =
        olds !== undefined && news !== undefined
          ? await compare([olds], [news])
          : await madeInTurn(context, tag, () =>
              compare(since ? outputsInTurn(deps, since) : [], outputsInTurn(deps, stateVersion)),
            )
      const event = since && revealOfComparison(stateVersion, since, compared)
      if (event !== undefined) reveal(event)
      const made = paging(added + changed + removed)
      // Stored outputs never change, so the ids of the versions are the tag.
      return tagged(tag, listDocument(fragments, { ...made, meta: { added, changed, removed } }))
    },
  }),
]

async function previews(
  context: Searching,
  stateVersion: StateVersionRow,
  masking: Masking,
): Promise<Answer> {
  const { tx, deps, query, page, paging } = context
  requireReadable(stateVersion)
  const sought = query.q?.toLowerCase()
  // A search reads all names, so all blocks.
  const from = sought === undefined ? (page.number - 1) * page.size : 0
  const end = sought === undefined ? from + page.size : stateVersion.outputs_count
  const options = { sought, masking, page }
  const tag = masking === 'values' ? stateVersion.id : `${stateVersion.id}-masked`
  const outputs = await readOutputs(tx, deps, stateVersion, from, end)
  const { fragments, total } =
    outputs !== undefined
      ? await previewPage(stateVersion, [outputs], options)
      : await madeInTurn(context, tag, () =>
          previewPage(stateVersion, outputsInTurn(deps, stateVersion, from, end), options),
        )
  return tagged(tag, listDocument(fragments, paging(total)))
}

/** The version to compare with; undefined if none is given and there is no version before. */
async function comparedVersion(
  { tx }: Pick<Searching, 'tx'>,
  stateVersion: StateVersionRow,
  since: string | undefined,
): Promise<StateVersionRow | undefined> {
  const id =
    since === undefined
      ? (await neighboursOf(tx, [stateVersion.id])).get(stateVersion.id)?.previous
      : parseId('stateVersion', since)
  if (since === undefined && (id ?? null) === null) return undefined
  const found = await findStateVersion(tx, id ?? NO_ID)
  if (found?.status !== 'finalized' || found.workspace_id !== stateVersion.workspace_id) {
    const detail = 'since must be the id of a state version of the same workspace that has its content'
    throw invalidQuery(detail, 'since')
  }
  refuseUnreadable(found)
  return found
}

function requireReadable(stateVersion: StateVersionRow): void {
  if (stateVersion.status !== 'finalized') throw notFound()
  refuseUnreadable(stateVersion)
}

/** What was made outside of a transaction for a request that reads again. */
const madeForCalls = new WeakMap<Call, { readonly tag: string; readonly made: unknown }>()

/** Makes a part of the answer that opens many blocks between two reads, so that no transaction waits for it. */
async function madeInTurn<T>(
  { call, mayReadAgain }: Pick<Searching, 'call' | 'mayReadAgain'>,
  tag: string,
  make: () => Promise<T>,
): Promise<T> {
  const known = madeForCalls.get(call)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tag names what was made
  if (known?.tag === tag) return known.made as T
  if (mayReadAgain) {
    throw new ReadAgain(async () => {
      madeForCalls.set(call, { tag, made: await make() })
    })
  }
  throw new AppError('unavailable', 'the outputs have just changed; try again')
}
