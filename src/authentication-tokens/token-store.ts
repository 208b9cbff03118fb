import { existing } from '../core/existing.ts'
import type { Insertable, Selectable } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { rowBy } from '../database/rows.ts'
import { countOf, pageOf } from '../database/pages.ts'
import type { AuthenticationTokenTable } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'

export type TokenRow = Selectable<AuthenticationTokenTable>

/** The owner of tokens: a user, a team, or an organization with one of its two kinds. */
export type TokenOwner =
  | { kind: 'user'; userId: string }
  | { kind: 'team'; teamId: string }
  | { kind: 'organization' | 'audit-trails'; organizationId: string }

export function insertToken(tx: Transaction, row: Insertable<AuthenticationTokenTable>): Promise<TokenRow> {
  return tx.db.insertInto('authentication_tokens').values(row).returningAll().executeTakeFirstOrThrow()
}

export const findToken = rowBy('authentication_tokens', 'id')

const tokensOf = (tx: Transaction, owner: TokenOwner) => {
  const query = tx.db.selectFrom('authentication_tokens').where('kind', '=', owner.kind)
  if (owner.kind === 'user') return query.where('user_id', '=', owner.userId)
  if (owner.kind === 'team') return query.where('team_id', '=', owner.teamId)
  return query.where('organization_id', '=', owner.organizationId)
}

/** Expired tokens count until they are deleted. */
export async function countTokens(tx: Transaction, owner: TokenOwner): Promise<number> {
  return countOf(tokensOf(tx, owner))
}

/** A page of the owner's tokens, oldest first. */
export function listTokens(
  tx: Transaction,
  owner: TokenOwner,
  page: Page,
): Promise<{ rows: TokenRow[]; total: number }> {
  return pageOf(tokensOf(tx, owner), page, (found) => found.selectAll().orderBy('created_at').orderBy('id'))
}

/** The token of `…/authentication-token`. The owner may have further tokens with descriptions. */
export function findSingleToken(tx: Transaction, owner: TokenOwner): Promise<TokenRow | undefined> {
  return tokensOf(tx, owner).where('is_single', '=', 1).selectAll().executeTakeFirst()
}

/** Whether another token than the one to replace has the description. */
export async function isDescriptionTaken(
  tx: Transaction,
  owner: TokenOwner,
  description: string,
  replacedId: string | undefined,
): Promise<boolean> {
  const query = tokensOf(tx, owner)
    .where('description', '=', description)
    .$if(replacedId !== undefined, (others) => others.where('id', '!=', existing(replacedId)))
  return (await query.select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Returns false if another request deleted it first. */
export async function deleteToken(tx: Transaction, id: string): Promise<boolean> {
  const result = await tx.db.deleteFrom('authentication_tokens').where('id', '=', id).executeTakeFirst()
  return result.numDeletedRows === 1n
}

/** Ends the tokens of a user except this one, and returns how many there were. */
export async function deleteTokensOf(tx: Transaction, userId: string, exceptId = ''): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('authentication_tokens')
    .where('kind', '=', 'user')
    .where('user_id', '=', userId)
    .where('id', '!=', exceptId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Updates in the order of ids, so that two nodes cannot deadlock. */
export async function updateLastUsed(tx: Transaction, batch: readonly (readonly [id: string, at: string])[]) {
  for (const [id, at] of batch.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await tx.db.updateTable('authentication_tokens').set({ last_used_at: at }).where('id', '=', id).execute()
  }
}
