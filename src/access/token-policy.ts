import type { AuthenticationTokenTable, Flag } from '../database/tables.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { parseStored } from '../core/stored-json.ts'
import type { Actor, UserActor } from './actor.ts'
import { columnSet, type Standing } from './decide.ts'

/** Kinds of token, as the policies of an organization name them. */
export const ttlKinds = ['organization', 'team', 'user', 'audit_trails'] as const
export type TtlKind = (typeof ttlKinds)[number]

/** The longest lifetime per kind that an organization allows, in milliseconds. Null: not set. */
export type TtlPolicy = { readonly max_ttl_enabled: Flag | null } & {
  readonly [K in TtlKind as `max_ttl_${K}_ms`]?: number | null
}

/** An organization's settings for tokens and sessions. */
export type TokenPolicy = TtlPolicy & {
  /** JSON object; `session-timeout` and `session-remember` limit sessions, in minutes. */
  readonly settings: string
  readonly user_tokens_enabled: Flag
  readonly max_ttl_user_ms: number | null
}

/** The policy name of a stored token's kind. Policies spell audit-trails with an underscore. */
export function ttlKindOf(kind: AuthenticationTokenTable['kind']): TtlKind {
  return kind === 'audit-trails' ? 'audit_trails' : kind
}

/** The limit for a kind that the policy does not set: two years. */
export const DEFAULT_MAX_TTL_MS = 2 * 365 * 86_400_000

/** The longest lifetime of a token of this kind in milliseconds. Undefined: no limit. */
export function maxTtlOf(policy: TtlPolicy, kind: TtlKind): number | undefined {
  return policy.max_ttl_enabled === 1 ? (policy[`max_ttl_${kind}_ms`] ?? DEFAULT_MAX_TTL_MS) : undefined
}

/** Whether a token created at `madeAt` is older than the policy allows. */
export function isTooOld(policy: TtlPolicy, kind: TtlKind, madeAt: string, now: Date): boolean {
  const most = maxTtlOf(policy, kind)
  return most !== undefined && now.getTime() - Date.parse(madeAt) >= most
}

const members = columnSet('PM')
const administrators = columnSet('SA')

/**
 * Throws 401 if the organization refuses user tokens, or user tokens of that age. It runs last, when the rules permit
 * the request: a missing or hidden object stays 404. A site administrator always passes, so that someone can change the
 * setting back.
 */
export function refuseUserToken(actor: Actor, standing: Standing, policy: TokenPolicy, clock: Clock): void {
  if (actor.kind !== 'user' || (standing.columns & members) === 0) return
  if ((standing.columns & administrators) !== 0) return
  // A session is no user token: without one, nobody could use the pages of such an organization.
  if (actor.session !== undefined) {
    refuseOldSession(actor, policy, clock.now())
    return
  }
  if (policy.user_tokens_enabled === 0) {
    const detail =
      'this organization does not accept user tokens (user-tokens-enabled is false); use a team token'
    throw new AppError('unauthorized', detail)
  }
  if (isTooOld(policy, 'user', actor.tokenMadeAt, clock.now())) {
    const detail =
      'this token, or the token that created it, is older than the organization allows for user tokens; ' +
      'ask a site administrator for a new one'
    throw new AppError('unauthorized', detail)
  }
}

/** The organization's limits of a session, in minutes between two uses and since the sign-in. */
export const sessionLimits = { idle: 'session-timeout', life: 'session-remember' } as const

function refuseOldSession(
  { session, tokenMadeAt }: Pick<UserActor, 'session' | 'tokenMadeAt'>,
  { settings }: Pick<TokenPolicy, 'settings'>,
  now: Date,
): void {
  const limits = parseStored<Partial<Record<string, number | null>>>(settings)
  const idle = limits[sessionLimits.idle] ?? Infinity
  const life = limits[sessionLimits.life] ?? Infinity
  if (pauseMinutes(session?.longestPauseMs ?? 0) < idle && minutesSince(tokenMadeAt, now) < life) return
  const detail = 'this organization wants you to sign in again (session-timeout, session-remember)'
  throw new AppError('unauthorized', detail)
}

/** Uses are stored once a minute, so a pause may be a minute shorter than it looks. */
export function pauseMinutes(pauseMs: number): number {
  return pauseMs / 60_000 - 1
}

export function minutesSince(time: string, now: Date): number {
  return (now.getTime() - Date.parse(time)) / 60_000
}
