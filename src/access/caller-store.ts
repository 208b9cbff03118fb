import { AppError } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { forKeeping } from '../database/portable.ts'
import type { Actor } from './actor.ts'
import { COMMAND_LINE_TOKEN } from './operator.ts'

/**
 * Throws 401 if the token or session of the caller has ended since the request was judged. To be called once the write has
 * waited for the rows that it changes. It cannot end then before the write does.
 */
export async function checkNotEnded(tx: Transaction, actor: Actor): Promise<void> {
  if (actor.tokenId === COMMAND_LINE_TOKEN) return
  const isSession = actor.kind === 'user' && actor.session !== undefined
  const found = await tx.db
    .selectFrom(isSession ? 'sessions' : 'authentication_tokens')
    .where('id', '=', actor.tokenId)
    .select('id')
    .$call(forKeeping(tx))
    .executeTakeFirst()
  if (found === undefined) throw new AppError('unauthorized')
}
