import type { AuditEvent } from '../audit/audit-store.ts'
import { timestamp } from '../core/clock.ts'
import { invalid, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { unlessTaken } from '../database/portable.ts'
import type { Deps } from '../http/deps.ts'
import { refuse } from '../jsonapi/body.ts'
import { bumpVersionsOf } from '../organizations/organization-store.ts'
import { deletePasswordLinksOf } from './password-link-store.ts'
import {
  findUserByEmail,
  findUserByUsername,
  insertUser,
  lockUser,
  updateUser,
  type UserRow,
} from './user-store.ts'
import { keyOf } from './users.ts'

const EMAIL_IS_TAKEN = 'email is already used by another user'
const USERNAME_IS_TAKEN = 'username is already used by another user'

type NewAccount = { username: string; email: string; passwordHash: string | null; isAdmin: boolean }

/** Creates a user, or completes the account of an invited user. Throws 422 if the name or email is taken. */
export async function createAccount(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'>,
  given: NewAccount,
): Promise<{ user: UserRow; event: AuditEvent }> {
  const { username, email, passwordHash, isAdmin } = given
  const account = {
    username,
    username_key: keyOf(username),
    email,
    email_key: keyOf(email),
    password_hash: passwordHash,
    is_site_admin: isAdmin ? (1 as const) : (0 as const),
  }
  const invited = await invitedUser(tx, given)
  const created_at = timestamp(deps.clock.now())
  const user =
    invited === undefined
      ? await insertUser(tx, { id: deps.newId('user'), ...account, created_at })
      : await takeOver(tx, invited.id, account)
  // A concurrent request inserted the same name or email first.
  if (user === undefined)
    throw invalid('username or email is already used by another user', '/data/attributes')
  if (invited !== undefined) await deletePasswordLinksOf(tx, invited.id)
  // The email may now differ in case, and memberships show it.
  if (invited !== undefined && invited.email !== email) await bumpVersionsOf(tx, user.id)
  return {
    user,
    event: {
      action: 'user.create',
      resourceType: 'users',
      resourceId: user.id,
      details: { username, 'is-admin': isAdmin, 'was-invited': invited !== undefined },
    },
  }
}

/** Problems for a taken user name and for an email that already has an account. */
export async function takenProblems(
  tx: Transaction,
  { username, email }: { username?: string; email?: string },
): Promise<Problem[]> {
  const problems: Problem[] = []
  if (username !== undefined && (await findUserByUsername(tx, keyOf(username))) !== undefined) {
    problems.push({ detail: USERNAME_IS_TAKEN, pointer: '/data/attributes/username' })
  }
  const found = email === undefined ? undefined : await findUserByEmail(tx, keyOf(email))
  if (found !== undefined && found.username !== null) {
    problems.push({ detail: EMAIL_IS_TAKEN, pointer: '/data/attributes/email' })
  }
  return problems
}

/** The user who was invited with this email and has no account yet. Throws 422 if the name or email is taken. */
async function invitedUser(tx: Transaction, account: NewAccount): Promise<UserRow | undefined> {
  const found = await findUserByEmail(tx, keyOf(account.email))
  // Another request may be creating this account right now, so the row is locked before it is checked.
  const invited = found === undefined ? undefined : await lockUser(tx, found.id)
  refuse(await takenProblems(tx, account))
  return invited
}

async function takeOver(
  tx: Transaction,
  id: string,
  account: Parameters<typeof updateUser>[2],
): Promise<UserRow> {
  const row = await unlessTaken(updateUser(tx, id, account))
  if (!row) throw invalid(USERNAME_IS_TAKEN, '/data/attributes/username')
  return row
}
