import { created } from '../http/call.ts'
import { writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { createAccount } from './accounts.ts'
import { hashPassword } from './password.ts'
import { userFragment } from './user-document.ts'
import { findUser, type UserRow } from './user-store.ts'
import { newUserBody } from './users.ts'

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
    const { id, event } = await createAccount(tx, deps, {
      username: body.username as string,
      email: body.email as string,
      passwordHash: prepared,
      isAdmin: body['is-admin'] === true,
    })
    audit(event)
    return created(document(userFragment((await findUser(tx, id)) as UserRow, actor)))
  },
})

export const adminUserRoutes: readonly Route[] = [createUser]
