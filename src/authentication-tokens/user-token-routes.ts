import { done, doneAll, unchanged } from '../http/outcome.ts'
import { list } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { endTokensOf } from '../login/ended-tokens.ts'
import { userAlonePlace } from '../users/user-place.ts'
import { tokenFragment } from './token-document.ts'
import { listTokens } from './token-store.ts'
import { problemsOfToken, readTokenRequest, tokenBody } from './tokens.ts'
import { issueUserToken } from './user-tokens.ts'

export const userTokenRoutes: readonly Route[] = [
  write(userAlonePlace, '/authentication-tokens', {
    method: 'POST',
    status: 201,
    permission: 'user:tokens',
    summary: 'Create a user token',
    answers: 'authentication-tokens',
    accepts: tokenBody,
    refuses: [403],
    body: readTokenRequest,
    problems: async ({ tx, deps, address: { userId }, actor: maker, body, problems }) => {
      const made = { owner: { kind: 'user', userId } as const, organization: undefined, maker }
      problems.push(...(await problemsOfToken(tx, deps, made, body, false)))
    },
    act: async ({ tx, deps, address: { userId }, actor, body }) => {
      const { event, ...made } = await issueUserToken(tx, deps, { userId, maker: actor }, body)
      return doneAll(made, [event])
    },
    document: (context) => document(tokenFragment(context.result.token, context, context.result.text)),
  }),

  write(userAlonePlace, '/authentication-tokens', {
    method: 'DELETE',
    status: 204,
    permission: 'user:tokens',
    summary: 'End all tokens of a user, except the one that asks',
    act: async ({ tx, actor, address: { userId } }) => {
      const { tokens: count, codes } = await endTokensOf(tx, userId, actor.tokenId)
      if (count === 0 && codes === 0) return unchanged(undefined)
      const details = { count, 'login-codes': codes }
      return done(undefined, { action: 'user-token.end-all', resourceId: userId, details })
    },
  }),

  list(userAlonePlace, '/authentication-tokens', {
    permission: 'user:tokens',
    summary: 'List user tokens',
    answers: 'authentication-tokens',
    document: async (context) => {
      const { tx, address, page, paging } = context
      const { rows, total } = await listTokens(tx, { kind: 'user', userId: address.userId }, page)
      const fragments = rows.map((token) => tokenFragment(token, context))
      return listDocument(fragments, paging(total))
    },
  }),
]
