import { deleteTokensOf } from '../authentication-tokens/token-store.ts'
import type { Transaction } from '../database/database.ts'
import { deleteLoginCodesOf } from './login-code-store.ts'

/**
 * Ends the tokens of a user, and the login codes, each of which could still give one. Returns how many tokens there were.
 *
 * @param exceptId the token that asks for it
 */
export async function endTokensOf(tx: Transaction, userId: string, exceptId?: string): Promise<number> {
  await deleteLoginCodesOf(tx, userId)
  return deleteTokensOf(tx, userId, exceptId)
}
