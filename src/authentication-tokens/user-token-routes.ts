import { invalid, notFound } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { created, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { pagingOf } from '../jsonapi/paging.ts'
import { findUser, lockUser, type UserRow } from '../users/user-store.ts'
import { parseUserId } from '../users/users.ts'
import { tokenFragment } from './token-document.ts'
import { countTokens, listTokens, type TokenOwner } from './token-store.ts'
import { checkTokenLimit, createToken, creatorOf, parseTokenRequest, tokenBody } from './tokens.ts'

const userOfPath = (call: Call) => {
  const userId = parseUserId(call.params.user_id as string)
  return userId === undefined ? undefined : { userId }
}

async function loadUser(tx: Transaction, userId: string) {
  const user = await findUser(tx, userId)
  return user === undefined ? undefined : { user, target: { userId } }
}

/** Nobody is handed a token of a team's service account, or of somebody who has no account yet. */
function refuseTokenFor(user: UserRow): void {
  if (user.is_service_account === 1) {
    throw invalid("a team's service account has its team's tokens and no others")
  }
  if (user.username === null) throw invalid('this user was invited and has no account yet')
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
    const user = await lockUser(tx, address.userId)
    if (user === undefined) throw notFound()
    refuseTokenFor(user)
    const owner: TokenOwner = { kind: 'user', userId: user.id }
    await checkTokenLimit(tx, owner, deps)
    const { token, text } = await createToken(
      tx,
      deps,
      { owner, userId: user.id, organizationId: null, isSingle: false, createdById: creatorOf(actor) },
      body,
    )
    audit({
      action: 'user-token.create',
      resourceType: 'authentication-tokens',
      resourceId: token.id,
      details: { user: user.id, description: body.description, 'expired-at': body.expiresAt },
    })
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
