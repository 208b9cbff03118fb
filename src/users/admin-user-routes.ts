import { accountOf } from '../access/actor.ts'
import { checkRecentPassword } from '../access/recent-password.ts'
import { doneAll } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { sitePlace } from '../http/site-place.ts'
import { write } from '../http/write-route.ts'
import { readResource } from '../jsonapi/body.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { text } from '../jsonapi/parameters.ts'
import { clientAddressOf } from '../sessions/client-address.ts'
import { createAccount, takenProblems } from './accounts.ts'
import { userFragment } from './user-document.ts'
import { listUsers } from './user-store.ts'
import { newUserBody } from './users.ts'

export const adminUserRoutes: readonly Route[] = [
  list(sitePlace, '/admin/users', {
    permission: 'users:administer',
    summary: 'List all users',
    query: { q: text('Part of the user name or email, ignoring case') },
    answers: 'users',
    document: async ({ tx, actor, deps, query, page, paging, willLookAt }) => {
      // No table has the number of users, so they are counted: a slow read.
      await willLookAt(() => Infinity)
      const { rows: users, total } = await listUsers(tx, query.q, page)
      const fragments = users.map((user) => userFragment(user, { actor, deps }))
      return listDocument(fragments, paging(total))
    },
  }),

  write(sitePlace, '/admin/users', {
    method: 'POST',
    status: 201,
    permission: 'users:administer',
    summary: 'Create a user, or give an invited one an account',
    answers: 'users',
    refuses: [403],
    accepts: newUserBody,
    body: (bytes) => readResource(bytes, newUserBody),
    prepare: async ({ attributes: { password, username } }, { actor, call, deps }) => {
      if (password === undefined) return undefined
      const address = clientAddressOf(call, deps.config)
      return deps.passwords.forNew(password, { account: username, address, device: accountOf(actor) })
    },
    problems: async ({ tx, body, prepared, problems }) => {
      problems.push(...(prepared?.problems ?? []))
      // Without other problems, the insert finds a taken name.
      if (problems.length > 0) problems.push(...(await takenProblems(tx, body.attributes)))
    },
    act: async ({ tx, deps, actor, body: { attributes }, prepared }) => {
      const isLasting = attributes.password !== undefined || attributes['is-admin'] === true
      if (isLasting) checkRecentPassword(actor, deps.clock.now())
      const { user, event } = await createAccount(tx, deps, {
        username: attributes.username,
        email: attributes.email,
        passwordHash: prepared?.hash ?? null,
        isAdmin: attributes['is-admin'] === true,
      })
      return doneAll(user, [event])
    },
    document: (context) => document(userFragment(context.result, context)),
  }),
]
