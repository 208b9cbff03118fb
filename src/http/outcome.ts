import type { Operator } from '../access/operator.ts'
import type { Problem } from '../core/errors.ts'
import type { AuditActor, AuditEvent } from '../audit/audit-store.ts'

/** An audit event whose missing fields the runner fills in. */
type EventFields = {
  /** Such as `team.create`. */
  readonly action: string
  readonly details: Record<string, unknown>
  /** Default: the type that the route answers, or that of its place. */
  readonly resourceType?: string
  /** Default: the id of the result. */
  readonly resourceId?: string
  /** Default: the organization of the route's object. */
  readonly organizationId?: string
  /** Replaces the real actor if the organization may not learn who it was. */
  readonly actor?: AuditActor
}

/** Only this file can write it, so that an outcome is made here. */
const made = Symbol('outcome')

/** What an act did. Only the functions below make one: a write has an audit event, or says that nothing changed. */
export type Outcome<Result> = {
  readonly [made]: true
  readonly result: Result
  /** Empty: nothing had to change. */
  readonly events: readonly (EventFields | AuditEvent)[]
  /** What the answer says in `meta.warnings`. */
  readonly warnings?: readonly Problem[]
  /** By how much the organization's numbers of teams change. */
  readonly counts?: { readonly teams: number; readonly visibleTeams: number }
  /** The write changed nobody's access. For routes that do not always change it. */
  readonly keepsAccess?: boolean
}

type WithId = { readonly id: string }

/**
 * The act changed something.
 *
 * @param result for the route's document
 * @param event without `resourceId`, the result must have an id
 */
export function done<Result extends WithId>(result: Result, event: EventFields): Outcome<Result>
export function done<Result>(result: Result, event: EventFields & { resourceId: string }): Outcome<Result>
export function done<Result>(result: Result, event: EventFields): Outcome<Result> {
  return { [made]: true, result, events: [event] }
}

/** The act changed several things: one event for each. There must be at least one. */
export function doneAll<Result>(
  result: Result,
  events: readonly [AuditEvent, ...AuditEvent[]] | readonly [...AuditEvent[], AuditEvent],
): Outcome<Result> {
  return { [made]: true, result, events }
}

/** Nothing had to change, so there is no audit event. */
export function unchanged<Result>(result: Result): Outcome<Result> {
  return { [made]: true, result, events: [], keepsAccess: true }
}

/** The audit events of an outcome, with the fields that the act left out. */
export function eventsOf(
  { result, events }: Outcome<unknown>,
  defaults: {
    readonly resourceType: string
    readonly organizationId: string | undefined
    /** Given for a command: its events name the human, too. */
    readonly operator: Operator | undefined
  },
): AuditEvent[] {
  return events.map((event) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- done() allows an event without it only for such a result
    const resourceId = event.resourceId ?? (result as WithId).id
    const { organizationId = defaults.organizationId, resourceType = defaults.resourceType } = event
    const named = { ...event, resourceType, resourceId, organizationId: organizationId ?? null }
    if (defaults.operator === undefined) return named
    return { ...named, details: { ...event.details, 'command-line-user': defaults.operator.systemUser } }
  })
}
