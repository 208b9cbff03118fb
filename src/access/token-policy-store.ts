import type { ExpressionBuilder, Expression, SqlBool } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Actor } from './actor.ts'
import { DEFAULT_MAX_TTL_MS } from './token-policy.ts'

/** SQL condition: the organization accepts the caller's token. For lists, the same rule as `refuseUserToken`. */
export function letsTokenIn(
  eb: ExpressionBuilder<Tables, 'organizations'>,
  actor: Actor,
  now: Date,
): Expression<SqlBool> {
  if (actor.kind !== 'user' || actor.isSiteAdmin || actor.session !== undefined) return eb.lit(true)
  const ageMs = now.getTime() - Date.parse(actor.tokenMadeAt)
  return eb.and([
    eb('organizations.user_tokens_enabled', '=', 1),
    eb.or([
      eb('organizations.max_ttl_enabled', '=', 0),
      eb(eb.fn.coalesce('organizations.max_ttl_user_ms', eb.lit(DEFAULT_MAX_TTL_MS)), '>', ageMs),
    ]),
  ])
}
