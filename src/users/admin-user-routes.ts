import { created, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { createAccount } from './accounts.ts'
import { hashPassword } from './password.ts'
import { userFragment } from './user-document.ts'
import { findUser, listUsers, type UserRow } from './user-store.ts'
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
