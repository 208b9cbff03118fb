import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import type { Actor } from '../access/actor.ts'
import type { Transaction } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'
import type { TokenRow } from './token-store.ts'

/** SQL condition: the person made the token, or has seen a token that it was made with. */
export function isSeenBy(
  eb: ExpressionBuilder<Tables, 'authentication_tokens'>,
  userId: string,
): Expression<SqlBool> {
  return eb.or([
    eb('authentication_tokens.created_by_id', '=', userId),
    eb('authentication_tokens.id', 'in', (seen) =>
      seen.selectFrom('token_origins').where('user_id', '=', userId).select('token_id'),
    ),
  ])
}

/** The people, except its user, who have seen the token that the actor sends, or a token that it was made with. */
export async function othersWhoSaw(tx: Transaction, actor: Actor): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('authentication_tokens')
    .where('id', '=', actor.tokenId)
    .where('created_by_id', 'like', 'user-%')
    .select('created_by_id as user_id')
    .$castTo<{ user_id: string }>()
    .union(tx.db.selectFrom('token_origins').where('token_id', '=', actor.tokenId).select('user_id'))
    .execute()
  return rows.map(({ user_id }) => user_id).filter((id) => actor.kind !== 'user' || id !== actor.userId)
}

/** Notes who has seen the tokens with which a token was made. The creator is known already. */
export async function insertOrigins(
  tx: Transaction,
  { id, created_by_id }: { id: string; created_by_id: string | null },
  userIds: readonly string[],
): Promise<void> {
  const rows = userIds.filter((userId) => userId !== created_by_id)
  if (rows.length === 0) return
  await tx.db
    .insertInto('token_origins')
    .values(rows.map((user_id) => ({ token_id: id, user_id })))
    .execute()
}

/** Ends the tokens of other users that the person made or has seen, and returns how many there were. */
export async function deleteHandedOutTokens(tx: Transaction, userId: string): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('authentication_tokens')
    .where('kind', '=', 'user')
    .where('user_id', '<>', userId)
    .where((eb) => isSeenBy(eb, userId))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The organization's own tokens that the person made or has seen. There are at most two. */
export function findOrganizationTokensSeenBy(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<TokenRow[]> {
  return tx.db
    .selectFrom('authentication_tokens')
    .where('organization_id', '=', organizationId)
    .where('kind', 'in', ['organization', 'audit-trails'])
    .where((eb) => isSeenBy(eb, userId))
    .selectAll()
    .orderBy('id')
    .execute()
}

/** The organizations whose tokens, or whose teams' tokens, the person made or has seen, in the order of their ids. */
export async function findOrganizationsOfSeenTokens(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('authentication_tokens')
    .where('organization_id', 'is not', null)
    .where((eb) => isSeenBy(eb, userId))
    .select('organization_id')
    .distinct()
    .orderBy('organization_id')
    .execute()
  return rows.flatMap(({ organization_id: id }) => id ?? [])
}
