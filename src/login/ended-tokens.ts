import { deleteTokensOf } from '../authentication-tokens/token-store.ts'
import type { Transaction } from '../database/database.ts'
import { lockUser } from '../users/user-store.ts'
import { deleteLoginCodesOf } from './login-code-store.ts'

/** How many there were. Codes that were used do not count. */
type Ended = { readonly tokens: number; readonly codes: number }

/** For the audit event of what ended them too. */
export function endedDetails(ended: Ended | undefined): Record<string, unknown> {
  return { 'ended-tokens': ended?.tokens, 'ended-login-codes': ended?.codes }
}

/**
 * Ends the tokens of a user, and the login codes, each of which could still give one. A token that is being made is waited for.
 *
 * @param exceptId the token that asks for it
 */
export async function endTokensOf(tx: Transaction, userId: string, exceptId?: string): Promise<Ended> {
  await lockUser(tx, userId)
  const codes = await deleteLoginCodesOf(tx, userId)
  return { tokens: await deleteTokensOf(tx, userId, exceptId), codes }
}
