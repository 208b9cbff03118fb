import type { AuthenticationTokenTable, Flag } from '../database/tables.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Actor } from './actor.ts'
import { columnSet, type Standing } from './decide.ts'

/** Tokens as an organization's policies tell them apart. */
export const ttlKinds = ['organization', 'team', 'user', 'audit_trails'] as const
export type TtlKind = (typeof ttlKinds)[number]

/** How long an organization lets each kind become; null: nothing was said. */
export type TtlPolicy = { readonly max_ttl_enabled: Flag | null } & {
  readonly [K in TtlKind as `max_ttl_${K}_ms`]?: number | null
}

/** What an organization says of tokens. */
export type TokenPolicy = TtlPolicy & {
  readonly user_tokens_enabled: Flag
  readonly max_ttl_user_ms: number | null
}

/** The kind of a stored token in the words of the policies, which spell one of them otherwise. */
export function ttlKindOf(kind: AuthenticationTokenTable['kind']): TtlKind {
  return kind === 'audit-trails' ? 'audit_trails' : kind
}

/** Of a kind for which nothing else was said: two years. */
export const DEFAULT_MAX_TTL_MS = 2 * 365 * 86_400_000

/** How long a token of this kind may be in force; undefined where nothing limits it. */
export function maxTtlOf(policy: TtlPolicy, kind: TtlKind): number | undefined {
  return policy.max_ttl_enabled === 1 ? (policy[`max_ttl_${kind}_ms`] ?? DEFAULT_MAX_TTL_MS) : undefined
}

/** Whether a token that was made then is older than the policy lets it become. */
export function isTooOld(policy: TtlPolicy, kind: TtlKind, madeAt: string, now: Date): boolean {
  const most = maxTtlOf(policy, kind)
  return most !== undefined && now.getTime() - Date.parse(madeAt) >= most
}

const members = columnSet('PM')
const administrators = columnSet('SA')

/**
 * 401 for the token of a person in an organization that takes no such token, or none so old. It is asked last, of a
 * member who would be let through: what is hidden from him or missing stays 404. A site administrator is always let
 * through, so that somebody can change it back.
 */
export function refuseUserToken(actor: Actor, standing: Standing, policy: TokenPolicy, clock: Clock): void {
  if (actor.kind !== 'user' || (standing.columns & members) === 0) return
  if ((standing.columns & administrators) !== 0) return
  if (policy.user_tokens_enabled === 0) {
    throw new AppError('unauthorized', [
      { detail: 'this organization takes no user tokens (user-tokens-enabled is false); use a team token' },
    ])
  }
  if (isTooOld(policy, 'user', actor.tokenMadeAt, clock.now())) {
    throw new AppError('unauthorized', [
      {
        detail:
          'this token, or the one that it was made with, is older than the organization lets user tokens become; ' +
          'ask a site administrator for a new one',
      },
    ])
  }
}
