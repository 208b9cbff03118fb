import type { Transaction } from '../database/database.ts'
import { created, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { findUser } from '../users/user-store.ts'
import { parseUserId } from '../users/users.ts'
import { tokenFragment } from './token-document.ts'
import { countTokens, listTokens, type TokenOwner } from './token-store.ts'
import { parseTokenRequest, tokenBody } from './tokens.ts'
import { issueUserToken } from './user-tokens.ts'

const userOfPath = (call: Call) => {
  const userId = parseUserId(call.params.user_id as string)
  return userId === undefined ? undefined : { userId }
}

async function loadUser(tx: Transaction, userId: string) {
  const user = await findUser(tx, userId)
  return user === undefined ? undefined : { user, target: { userId } }
}

const createUserTokenRoute = writeRoute({
  method: 'POST',
  path: '/users/:user_id/authentication-tokens',
  permission: 'user:tokens',
  summary: 'Create a user token',
  answers: 'authentication-tokens',
  status: 201,
  accepts: tokenBody,
  address: userOfPath,
  load: ({ tx, address }) => loadUser(tx, address.userId),
  body: (bytes, _, deps) => parseTokenRequest(bytes, deps),
  act: async (context) => {
    const { tx, deps, address, actor, body, audit } = context
    const { userId } = address
    const { token, text, event } = await issueUserToken(tx, deps, { userId, maker: actor }, body)
    audit(event)
    return created(document(tokenFragment(token, context, text)))
  },
})

const listUserTokens = readRoute({
  path: '/users/:user_id/authentication-tokens',
  permission: 'user:tokens',
  summary: 'List user tokens',
  answers: 'authentication-tokens',
  isList: true,
  address: (call) => {
    const page = call.query.page()
    const address = userOfPath(call)
    return address === undefined ? undefined : { ...address, page }
  },
  load: ({ tx, address }) => loadUser(tx, address.userId),
  document: async (context) => {
    const { tx, address, call } = context
    const { page, userId } = address
    const owner: TokenOwner = { kind: 'user', userId }
    const tokens = await listTokens(tx, owner, page)
    const paging = pagingOf(call.path, [], page, await countTokens(tx, owner))
    return ok(
      listDocument(
        tokens.map((token) => tokenFragment(token, context)),
        paging,
      ),
    )
  },
})

export const userTokenRoutes: readonly Route[] = [createUserTokenRoute, listUserTokens]
