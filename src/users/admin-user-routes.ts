import { timestamp } from '../core/clock.ts'
import { AppError, invalid, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { isUniqueViolation } from '../database/portable.ts'
import { created, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { hashPassword } from './password.ts'
import { userFragment } from './user-document.ts'
import {
  findUser,
  findUserByEmail,
  findUserByUsername,
  insertUser,
  listUsers,
  lockUser,
  updateUser,
  type UserRow,
} from './user-store.ts'
import { keyOf, newUserBody } from './users.ts'

const EMAIL_IS_TAKEN = 'email is that of another user'
const USERNAME_IS_TAKEN = 'username is that of another user'

/** Whoever was invited under this email and has no account yet; throws 422 for a name or email that is taken. */
async function invitedUser(
  tx: Transaction,
  usernameKey: string,
  emailKey: string,
): Promise<UserRow | undefined> {
  const problems: Problem[] = []
  if ((await findUserByUsername(tx, usernameKey)) !== undefined) {
    problems.push({ detail: USERNAME_IS_TAKEN, pointer: '/data/attributes/username' })
  }
  const found = await findUserByEmail(tx, emailKey)
  const invited = found === undefined ? undefined : await lockUser(tx, found.id)
  if (invited !== undefined && invited.username !== null) {
    problems.push({ detail: EMAIL_IS_TAKEN, pointer: '/data/attributes/email' })
  }
  if (problems.length > 0) throw new AppError('invalid', problems)
  return invited
}

const createUser = writeRoute({
  method: 'POST',
  path: '/admin/users',
  permission: 'users:administer',
  summary: 'Create a user, or give an invited one an account',
  answers: 'users',
  status: 201,
  accepts: newUserBody,
  address: () => ({}),
  load: async () => ({ target: {} }),
  body: (bytes) => parseResource(bytes, newUserBody).attributes,
  prepare: async ({ password }) => (password === undefined ? null : hashPassword(password)),
  act: async ({ tx, deps, body, prepared, actor, audit }) => {
    const username = body.username as string
    const email = body.email as string
    const account = {
      username,
      username_key: keyOf(username),
      email,
      email_key: keyOf(email),
      password_hash: prepared,
      is_site_admin: body['is-admin'] === true ? (1 as const) : (0 as const),
    }
    const invited = await invitedUser(tx, account.username_key, account.email_key)
    const id = invited?.id ?? deps.newId('user')
    if (invited === undefined) {
      const isNew = await insertUser(tx, { id, ...account, created_at: timestamp(deps.clock.now()) })
      // Somebody else's request was faster: with the name or with the email.
      if (!isNew) throw invalid('username or email is that of another user', '/data/attributes')
    } else {
      await takeOver(tx, id, account)
    }
    audit({
      action: 'user.create',
      resourceType: 'users',
      resourceId: id,
      details: { username, 'is-admin': account.is_site_admin === 1, 'was-invited': invited !== undefined },
    })
    return created(document(userFragment((await findUser(tx, id)) as UserRow, actor)))
  },
})

async function takeOver(
  tx: Transaction,
  id: string,
  account: Parameters<typeof updateUser>[2],
): Promise<void> {
  try {
    await updateUser(tx, id, account)
  } catch (error) {
    if (isUniqueViolation(error)) throw invalid(USERNAME_IS_TAKEN, '/data/attributes/username')
    throw error
  }
}

const list = readRoute({
  path: '/admin/users',
  permission: 'users:administer',
  summary: 'List all users',
  query: { q: 'Part of the user name or email, without case' },
  answers: 'users',
  isList: true,
  address: ({ query }) => ({ page: query.page(), q: query.text('q'), links: query.withoutPage(['q']) }),
  load: async () => ({ target: {} }),
  document: async ({ tx, actor, address, call }) => {
    const { page, q, links } = address
    const { users, total } = await listUsers(tx, q, page)
    const fragments = users.map((user) => userFragment(user, actor))
    return ok(listDocument(fragments, pagingOf(call.path, links, page, total)))
  },
})

export const adminUserRoutes: readonly Route[] = [list, createUser]
