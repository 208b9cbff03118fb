import { isFarAhead } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { Actor } from './actor.ts'
import { minutesSince } from './token-policy.ts'

/** How long after its user gave the password a session may make what opens the account without the session. */
export const RECENT_MINUTES = 10

/** Clients recognise the refusal by it. */
const PASSWORD_NEEDED = 'password-needed'

/**
 * Throws 403 for a session whose user last gave the password too long ago. To be called by everything that makes a token, a
 * link or an account: it would outlast a stolen session. `actor` is null for the command line.
 */
export function checkRecentPassword(actor: Actor | null, now: Date): void {
  if (actor?.kind !== 'user' || actor.session === undefined) return
  const { passwordCheckedAt } = actor.session
  const isRecent = minutesSince(passwordCheckedAt, now) < RECENT_MINUTES
  if (isRecent && !isFarAhead(Date.parse(passwordCheckedAt), now)) return
  const detail = `this needs your password again: you gave it more than ${RECENT_MINUTES} minutes ago`
  throw new AppError('forbidden', [{ detail, code: PASSWORD_NEEDED }])
}
