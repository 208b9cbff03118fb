import type { AccessKind } from './both-sides.ts'
import { differences } from './copied-attributes.ts'
import type { Progress } from './progress.ts'
import { Unreadable, type StateChoice } from './records.ts'
import type { Kind, Report } from './report.ts'
import type { Reading, Source } from './source.ts'
import type { Resource } from './source-lists.ts'
import { Refused, type OwnClient } from './own-client.ts'

/** An object on this server, created by the import or found from an earlier run. */
export type Place = { id: string; isNew: boolean }

/** The state of the copy of one organization. */
export type Context = {
  source: Source
  target: OwnClient
  report: Report
  progress: Progress
  /** Checked between steps. A step that has begun is always finished. */
  signal: AbortSignal
  isDryRun: boolean
  states: StateChoice
  /** The organization's name on the source, and on this server (`as`). */
  organization: string
  as: string
  isNew: boolean
  /** In a dry run the organization is new, so there is nothing to read on this server yet. */
  isMadeLater: boolean
  /** Objects on this server by their ids on the source. An object that was not copied is missing here. */
  projects: Map<string, Place>
  teams: Map<string, Place>
  workspaces: Map<string, Place>
}

/** Parallel items, for work that mostly waits for an answer. */
export const SOME_AT_ONCE = 4

/**
 * Does `work` for each item, shows progress, and stops between two items if asked to. It returns only after all running
 * work has ended, also after a failure.
 */
export async function forEach<T>(
  { progress, signal, organization }: Pick<Context, 'progress' | 'signal' | 'organization'>,
  stage: string,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnce = 1,
): Promise<void> {
  const rest = items.values()
  let done = 0
  let hasFailed = false
  const workers = Array.from({ length: atOnce }, async () => {
    for (const item of rest) {
      if (hasFailed) return
      try {
        signal.throwIfAborted()
        await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
      done += 1
      progress.show(`${organization}: ${stage}`, done, items.length)
    }
  })
  for (const outcome of await Promise.allSettled(workers)) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
}

/**
 * Does work that this server may refuse, or that needs something which the source hides or cannot give. Either is reported,
 * and the result is undefined.
 */
export async function orReport<T>(
  { report }: Pick<Context, 'report'>,
  kind: Kind,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused) && !(error instanceof Unreadable)) throw error
    report.missing(kind, name, error.message)
    return undefined
  }
}

/** Reads a list of the source. Parts that cannot be read are reported, and the import continues without them. */
export async function readOf<T>(
  { report, progress, organization }: Pick<Context, 'report' | 'progress' | 'organization'>,
  kind: Kind,
  read: (reading: Reading) => Promise<T[]>,
  what = 'all',
): Promise<T[]> {
  const reading: Reading = {
    step: (done, total) => progress.show(`${organization}: reading ${kind}`, done, total),
    unreadable: (name, reason) => report.missing(kind, name, reason),
  }
  return (await orReport({ report }, kind, what, () => read(reading))) ?? []
}

type NewThing = {
  kind: AccessKind | 'organizations' | 'projects' | 'teams' | 'workspaces'
  name: string
  path: string
  attributes: Record<string, unknown>
  relationships?: Record<string, unknown>
}

/**
 * Creates an object. Settings with values that this server does not accept are left out and reported. Members that
 * control access are never left out, because their defaults may allow more.
 */
export async function make(context: Context, thing: NewThing): Promise<Resource | undefined> {
  const { report, target } = context
  const { kind, name, path } = thing
  let { attributes, relationships } = thing
  for (;;) {
    try {
      const made = await target.send('POST', path, { type: kind, attributes, relationships })
      report.copied(kind)
      compare(context, kind, name, attributes, made.attributes)
      return made
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const refused = error.pointers.map((pointer) => optional.exec(pointer)?.[1])
      const isGrant = kind === 'team-projects' || kind === 'team-workspaces'
      const isOptional =
        !isGrant && refused.length > 0 && refused.every((one) => one !== undefined && !ruling.has(one))
      report.missing(kind, name, isOptional ? `without it: ${error.message}` : error.message)
      if (error.status !== 422 || !isOptional) return undefined
      const without = (members: Record<string, unknown>) =>
        Object.fromEntries(Object.entries(members).filter(([key]) => !refused.includes(key)))
      attributes = without(attributes)
      if (relationships !== undefined) relationships = without(relationships)
    }
  }
}

/** Makes an object, unless it is there from an earlier run. Undefined if it was refused. */
export async function makeUnlessThere(
  context: Context,
  there: Resource | undefined,
  thing: NewThing,
): Promise<Place | undefined> {
  if (there !== undefined) {
    context.report.there(thing.kind)
    compare(context, thing.kind, thing.name, thing.attributes, there.attributes)
    return { id: there.id, isNew: false }
  }
  const made = await make(context, thing)
  return made === undefined ? undefined : { id: made.id, isNew: true }
}

const optional = /^\/data\/(?:attributes|relationships)\/([^/]+)(?:\/|$)/

/** Members that control access or identify the object. */
const ruling: ReadonlySet<string> = new Set([
  'name',
  'email',
  'visibility',
  'organization-access',
  'allow-member-token-management',
  'delegated-team-management',
  'user-tokens-enabled',
  'max-ttl-enabled',
  'project',
])

/** Reports differences between source and this server. The object on this server stays unchanged. */
export function compare(
  { report }: Context,
  kind: Kind,
  name: string,
  asked: Record<string, unknown>,
  actual: Record<string, unknown>,
): void {
  const others = differences(asked, actual)
  if (others.length > 0) report.missing(kind, name, `another value here: ${others.join(', ')}`)
}
