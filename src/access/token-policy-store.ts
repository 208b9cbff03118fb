import { sql, type ExpressionBuilder, type Expression, type SqlBool } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import { numberIn, type Engine } from '../database/portable.ts'
import { DEFAULT_MAX_TTL_MS, minutesSince, pauseMinutes, sessionLimits } from './token-policy.ts'

/** SQL condition: the organization accepts the caller's token. For lists, the same rule as `refuseUserToken`. */
export function letsTokenIn(
  eb: ExpressionBuilder<Tables, 'organizations'>,
  actor: Actor,
  now: Date,
  engine: Engine,
): Expression<SqlBool> {
  if (actor.kind !== 'user' || actor.isSiteAdmin) return eb.lit(true)
  if (actor.session !== undefined) {
    const allows = (name: string, minutes: number) =>
      sql<SqlBool>`coalesce(${numberIn(engine, 'organizations.settings', name)} > ${minutes}, true)`
    return eb.and([
      allows(sessionLimits.idle, pauseMinutes(actor.session.longestPauseMs)),
      allows(sessionLimits.life, minutesSince(actor.tokenMadeAt, now)),
    ])
  }
  const ageMs = now.getTime() - Date.parse(actor.tokenMadeAt)
  return eb.and([
    eb('organizations.user_tokens_enabled', '=', 1),
    eb.or([
      eb('organizations.max_ttl_enabled', '=', 0),
      eb(eb.fn.coalesce('organizations.max_ttl_user_ms', eb.lit(DEFAULT_MAX_TTL_MS)), '>', ageMs),
    ]),
  ])
}
