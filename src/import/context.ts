import { differences } from './copied-attributes.ts'
import type { Progress } from './progress.ts'
import { Unreadable, type StateChoice } from './records.ts'
import type { Kind, Report } from './report.ts'
import type { Reading, Source } from './source.ts'
import type { Resource } from './source-lists.ts'
import { Refused, type Target } from './target.ts'

/** A thing of this server that a thing of the source became, or was found to be. */
export type Place = { id: string; isNew: boolean }

/** One organization on its way. */
export type Context = {
  source: Source
  target: Target
  report: Report
  progress: Progress
  /** Looked at between two steps: what has begun is ended. */
  signal: AbortSignal
  isDryRun: boolean
  states: StateChoice
  /** Its name there, and here. */
  organization: string
  as: string
  isNew: boolean
  /** It is new, and in a dry run: there is nothing of it to look at. */
  isMadeLater: boolean
  /** Here, by their ids there; what is not in it was not copied. */
  projects: Map<string, Place>
  teams: Map<string, Place>
  workspaces: Map<string, Place>
}

/** Things of which some are worked at while others wait for an answer. */
export const SOME_AT_ONCE = 4

/**
 * Does something for each; shows how far it is, and stops between two when it is asked to. What has begun has ended before
 * this ends, also when something fails.
 */
export async function forEach<T>(
  { progress, signal, organization }: Pick<Context, 'progress' | 'signal' | 'organization'>,
  stage: string,
  items: readonly T[],
  work: (item: T) => Promise<void>,
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

/** A list of the source; what of it is hidden or cannot be read is reported, and the rest goes on without it. */
export async function readOf<T>(
  { report, progress, organization }: Pick<Context, 'report' | 'progress' | 'organization'>,
  kind: Kind,
  read: (reading: Reading) => Promise<T[]>,
  what = 'all',
): Promise<T[]> {
  try {
    return await read({
      step: (done, total) => progress.show(`${organization}: reading ${kind}`, done, total),
      unreadable: (name, reason) => report.missing(kind, name, reason),
    })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    report.missing(kind, what, error.message)
    return []
  }
}

/** Does what this server may refuse; a refusal is reported and gives undefined. */
export async function unlessRefused<T>(
  { report }: Context,
  kind: Kind,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    report.missing(kind, name, error.message)
    return undefined
  }
}

type NewThing = {
  kind: Kind
  name: string
  path: string
  type: string
  attributes: Record<string, unknown>
  relationships?: Record<string, unknown>
}

/**
 * Makes a thing. Settings whose value is not possible here are left out and reported; of what rules access nothing is
 * ever left out, since less said may be more allowed.
 */
export async function make(context: Context, thing: NewThing): Promise<Resource | undefined> {
  const { report, target } = context
  const { kind, name, path, type } = thing
  let { attributes, relationships } = thing
  for (;;) {
    try {
      const made = await target.send('POST', path, {
        type,
        attributes,
        ...(relationships === undefined ? {} : { relationships }),
      })
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

const optional = /^\/data\/(?:attributes|relationships)\/([^/]+)(?:\/|$)/

/** What says who may do what, or which thing it is. */
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

/** Reports what is another here than there: what is here stays as it is. */
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
