import { existing } from '../core/existing.ts'
import { created, ok } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { readResource, refuse } from '../jsonapi/body.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { createAccount, takenProblems } from './accounts.ts'
import { hashPassword } from './password.ts'
import { userFragment } from './user-document.ts'
import { findUser, listUsers } from './user-store.ts'
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
  body: (bytes) => readResource(bytes, newUserBody),
  prepare: async ({ attributes: { password }, problems }) =>
    password === undefined || problems.length > 0 ? null : hashPassword(password),
  act: async ({ tx, deps, body, prepared, actor, audit }) => {
    const { attributes, problems } = body
    if (problems.length > 0) refuse([...problems, ...(await takenProblems(tx, attributes))])
    const { id, event } = await createAccount(tx, deps, {
      username: attributes.username as string,
      email: attributes.email as string,
      passwordHash: prepared,
      isAdmin: attributes['is-admin'] === true,
    })
    audit(event)
    return created(document(userFragment(existing(await findUser(tx, id)), actor)))
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
