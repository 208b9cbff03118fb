import { existing } from '../core/existing.ts'
import { findStateVersion, unreadableOutputs } from '../state-versions/state-version-store.ts'
import { forEach, SOME_AT_ONCE, orReport, type Context, type Place } from './context.ts'
import { readJsonState, readState, statesOf } from './read-state.ts'
import { Unreadable, type StateRecord, type WorkspaceRecord } from './records.ts'
import { relatedId, type Resource } from './source-lists.ts'
import type { Source } from './source.ts'
import { Spool } from './spool.ts'
import { factsOf } from './state-facts.ts'
import { Refused } from './own-client.ts'

export const LOCK_REASON = 'purser import'
const kind = 'state versions'
/** Another import of the same user may write under the same lock, because it takes the lock for that of a killed one. */
const REPLACED = 'the workspace got another state here meanwhile, which is not replaced'
/** Larger states are uploaded separately. */
const MAX_BYTES_IN_BODY = 1024 * 1024

/** The workspace whose states are copied: its name there, its id here, and the id of its current version as copied. */
type Copying = Context & { readonly name: string; readonly workspaceId: string; current: string | null }

export async function importStates(context: Context, workspaces: readonly WorkspaceRecord[]): Promise<void> {
  if (context.states === 'none') return
  const work = async (workspace: WorkspaceRecord) => {
    const place = context.workspaces.get(workspace.id)
    if (place === undefined) return
    // Read the whole list even if only some are copied, because it is compared with the versions here.
    const all = await statesOf(context, workspace)
    const found = await orReport(context, kind, workspace.name, async () => ({
      current: place.isNew ? null : await currentHere(context, place.id),
      missing: await wanted(context, workspace, all, place),
    }))
    if (found === undefined) return
    const { current, missing } = found
    if (missing.length === 0) {
      // An import may have been killed after it had copied everything.
      const giveBack = () => giveBackOldLock(context, place.id)
      if (!context.isDryRun && !place.isNew) await orReport(context, kind, workspace.name, giveBack)
    } else if (context.isDryRun) context.report.copied(kind, missing.length)
    else await copyLocked({ ...context, name: workspace.name, workspaceId: place.id, current }, missing)
  }
  await forEach(context, 'states', workspaces, work, SOME_AT_ONCE)
}

/** Others work on this server meanwhile, and may delete what the import has made or found. */
async function workspaceHere({ target }: Pick<Context, 'target'>, id: string): Promise<Resource> {
  const workspace = await target.show(`/workspaces/${id}`)
  if (workspace === undefined) throw new Refused(404, 'it was deleted here meanwhile', [])
  return workspace
}

export async function currentHere(
  context: Pick<Context, 'target'>,
  workspaceId: string,
): Promise<string | null> {
  return relatedId(await workspaceHere(context, workspaceId), 'current-state-version')
}

type Known = { id: string; serial: unknown; size: unknown }

/** Newest first. */
async function statesHere(context: Context, workspaceId: string): Promise<Known[]> {
  const { target, as } = context
  const workspace = await workspaceHere(context, workspaceId)
  const { data } = await target.list('/state-versions', {
    'filter[organization][name]': as,
    'filter[workspace][name]': String(workspace.attributes.name),
    'filter[status]': 'finalized',
  })
  return data.map(({ id, attributes: { serial, size } }) => ({ id, serial, size }))
}

/** The versions of the source to copy, oldest first: only those newer than the current version here. */
async function wanted(
  context: Context,
  { name }: WorkspaceRecord,
  all: readonly StateRecord[],
  place: Place,
): Promise<readonly StateRecord[]> {
  const { states, target, report } = context
  const kept = all.slice(-target.config.stateVersionsKept)
  const chosen = states === 'current' ? all.slice(-1) : kept
  if (kept.length < all.length && states === 'all') {
    report.missing(
      kind,
      name,
      `the oldest ${all.length - kept.length}: ${kept.length} are kept here (PURSER_STATE_VERSIONS_KEPT)`,
    )
  }
  if (chosen.length === 0 || place.isNew) return chosen
  const here = await statesHere(context, place.id)
  const current = here[0]
  if (current === undefined) return chosen
  const last = await placeOf(context, name, all, current)
  if (last === -1) return []
  const older = chosen.filter((one) => all.indexOf(one) <= last)
  const there = older.filter((one) => here.some((other) => isLike(one, other)))
  if (there.length > 0) report.there(kind, there.length)
  if (there.length < older.length) {
    report.missing(
      kind,
      name,
      `${older.length - there.length} that are older than the current one here: older versions cannot be added`,
    )
  }
  return chosen.filter((one) => all.indexOf(one) > last)
}

const isLike = (one: StateRecord, other: Known) =>
  one.serial === other.serial && (one.size === null || one.size === other.size)

/** Index of the current version here among the source's versions. If it is none of them: -1, which is reported. */
async function placeOf(
  context: Context,
  name: string,
  all: readonly StateRecord[],
  current: Known,
): Promise<number> {
  const { source, target, report } = context
  const here = await target.database.read((tx) => findStateVersion(tx, current.id))
  try {
    for (let place = all.length - 1; place >= 0; place -= 1) {
      const there = existing(all[place])
      if (!isLike(there, current)) continue
      // Different states may have the same serial and size, so compare their bytes by MD5.
      const md5 = there.md5?.toLowerCase() ?? (await md5Of(source, there, target.config.maxStateBytes))
      if (md5 === here?.md5) return place
    }
    report.missing(kind, name, 'the workspace has a state of its own here, which is not replaced')
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    const problem = `the current state here cannot be compared with that of the source: ${error.message}`
    report.missing(kind, name, problem)
  }
  return -1
}

async function md5Of(source: Source, state: StateRecord, limit: number): Promise<string> {
  using spool = new Spool()
  await readState(source, state, limit, spool)
  return spool.md5
}

/** Copies under the import's own lock and always releases it. */
async function copyLocked(context: Copying, missing: readonly StateRecord[]): Promise<void> {
  const { name, workspaceId } = context
  const actions = `/workspaces/${workspaceId}/actions`
  const isLocked = await orReport(context, kind, name, async () => {
    await giveBackOldLock(context, workspaceId)
    await context.target.act(`${actions}/lock`, { reason: LOCK_REASON })
    return true
  })
  if (!isLocked) return
  try {
    // Until the lock was taken, others could write. Their state must not be replaced, least of all with `force`.
    const isSame = await orReport(
      context,
      kind,
      name,
      async () => (await currentHere(context, workspaceId)) === context.current,
    )
    if (isSame === false) {
      context.report.missing(kind, name, REPLACED)
    }
    if (!isSame) return
    for (const [place, state] of missing.entries()) {
      context.signal.throwIfAborted()
      context.progress.show(`${context.organization}: states of ${name}`, place, missing.length)
      await copyState(context, state)
    }
  } finally {
    await giveBackLock(context, actions)
  }
}

export async function giveBackLock({ target }: Pick<Context, 'target'>, actions: string): Promise<void> {
  try {
    await target.act(`${actions}/unlock`, {})
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // Unlocking fails while an incomplete version is pending; force discards it. Else the lock is no longer ours.
    if (error.status === 400) await target.act(`${actions}/force-unlock`, {})
  }
}

/** Releases the lock of an earlier import that was killed. */
export async function giveBackOldLock(context: Pick<Context, 'target'>, workspaceId: string): Promise<void> {
  const { target } = context
  const workspace = await workspaceHere(context, workspaceId)
  const isOurs =
    workspace.attributes['locked-reason'] === LOCK_REASON &&
    relatedId(workspace, 'locked-by') === target.user.id
  if (isOurs) await target.act(`/workspaces/${workspaceId}/actions/force-unlock`, {})
}

async function copyState(context: Copying, state: StateRecord): Promise<void> {
  const { source, target, report, name } = context
  const { maxStateBytes } = target.config
  const what = `serial ${state.serial} of ${name}`
  await orReport(context, kind, what, async () => {
    using content = new Spool()
    using json = new Spool()
    await readState(source, state, maxStateBytes, content)
    const hasJson = await readJsonState(context, what, state, maxStateBytes, json)
    await sendState(context, what, state.serial, content, hasJson ? json : undefined)
    report.copied(kind)
    const made = await target.database.read((tx) => findStateVersion(tx, existing(context.current)))
    if (made !== undefined && unreadableOutputs(made) === 'encrypted') {
      report.note(
        `the outputs of ${what} cannot be read here: OpenTofu has encrypted the state, and they are not in it`,
      )
    }
  })
}

async function sendState(
  context: Copying,
  what: string,
  serial: number,
  content: Spool,
  json: Spool | undefined,
): Promise<void> {
  const { target } = context
  const { lineage } = factsOf(content)
  const attributes = { serial, md5: content.md5, ...(lineage === undefined ? {} : { lineage }) }
  const most = Math.min(MAX_BYTES_IN_BODY, target.config.maxBodyBytes / 2)
  if (content.size + (json?.size ?? 0) <= most) {
    try {
      // One transaction, so that a killed import leaves nothing behind.
      const whole = await createVersion(context, {
        ...attributes,
        state: base64Of(content),
        ...(json === undefined ? {} : { 'json-state': base64Of(json) }),
      })
      context.current = whole.id
      return
    } catch (error) {
      // The JSON state may be the reason for the refusal, so send the two separately.
      if (!(error instanceof Refused) || json === undefined) throw error
    }
  }
  const made = await createVersion(context, attributes)
  if (json !== undefined) {
    const address = String(made.attributes['hosted-json-state-upload-url'])
    await orReport(context, kind, `JSON state of ${what}`, () => target.upload(address, json))
  }
  // The state comes last, because it completes the version.
  await target.upload(String(made.attributes['hosted-state-upload-url']), content)
  context.current = made.id
}

function base64Of(spool: Spool): string {
  return Buffer.concat([...spool.chunks()]).toString('base64')
}

/**
 * A lower serial or another lineage is refused, and bytes that an older version has are answered with that version. The
 * source was forced to accept them, so force them here too.
 */
async function createVersion(context: Copying, attributes: Record<string, unknown>): Promise<Resource> {
  const { target, workspaceId } = context
  const path = `/workspaces/${workspaceId}/state-versions`
  const type = 'state-versions'
  const current = () => currentHere(context, workspaceId)
  try {
    const made = await target.send('POST', path, { type, attributes })
    if (made.attributes.status !== 'finalized') return made
    const now = await current()
    if (now === made.id) return made
    if (now !== context.current) throw new Unreadable(REPLACED)
  } catch (error) {
    if (!(error instanceof Refused) || ![409, 412].includes(error.status)) throw error
    if ((await current()) !== context.current) throw error
  }
  return target.send('POST', path, { type, attributes: { ...attributes, force: true } })
}
