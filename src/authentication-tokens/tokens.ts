import { hashToken } from '../access/actor-store.ts'
import { timestamp } from '../core/clock.ts'
import type { newId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { newTokenText } from './token-text.ts'
import { insertToken } from './token-store.ts'

const LIFE_YEARS = 2

/** Two years from now: for a token that was made without an expiry. */
export function defaultExpiry(now: Date): string {
  const expiry = new Date(now)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + LIFE_YEARS)
  return timestamp(expiry)
}

/** Makes a user's token and gives its text, which nobody can read again. */
export async function createUserToken(
  tx: Transaction,
  makeId: typeof newId,
  token: {
    userId: string
    description: string | null
    createdById: string | null
    now: Date
    expiresAt?: string
    text?: string
  },
): Promise<{ id: string; text: string }> {
  const text = token.text ?? newTokenText('user')
  const id = makeId('token')
  await insertToken(tx, {
    id,
    hash: hashToken(text),
    kind: 'user',
    user_id: token.userId,
    team_id: null,
    organization_id: null,
    description: token.description,
    created_by_id: token.createdById,
    created_at: timestamp(token.now),
    expires_at: token.expiresAt ?? defaultExpiry(token.now),
    last_used_at: null,
  })
  return { id, text }
}
