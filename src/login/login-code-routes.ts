import { hashToken } from '../access/actor-store.ts'
import { checkRecentPassword } from '../access/recent-password.ts'
import { timeAfter, timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import { newSecret } from '../core/ids.ts'
import { done } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { personPlace } from '../users/user-place.ts'
import { insertLoginCode } from './login-code-store.ts'
import { CODE_MS, loginCodeBody, loginCodeResource } from './login-codes.ts'

/** The consent of a person who has signed in: a program on their machine may get a token of theirs. */
export const loginCodeRoutes: readonly Route[] = [
  write(personPlace, '/account/login-codes', {
    method: 'POST',
    status: 201,
    permission: 'user:tokens',
    summary: 'Allow a token for a program that waits on the machine of the caller',
    answers: loginCodeResource.description.type,
    accepts: loginCodeBody,
    refuses: [403],
    body: (bytes) => parseResource(bytes, loginCodeBody),
    act: async ({ tx, deps, actor, resource: { user }, body: { attributes } }) => {
      if (actor.kind !== 'user' || actor.session === undefined) {
        throw invalid('only somebody who has signed in with a browser may do this; a token cannot')
      }
      const now = deps.clock.now()
      checkRecentPassword(actor, now)
      const code = newSecret()
      const redirectUri = attributes['redirect-uri']
      const expiresAt = timeAfter(now, CODE_MS)
      await insertLoginCode(tx, {
        hash: hashToken(code),
        user_id: user.id,
        session_id: actor.tokenId,
        code_challenge: attributes['code-challenge'],
        redirect_uri: redirectUri,
        created_at: timestamp(now),
        expires_at: expiresAt,
        used_at: null,
        token_id: null,
      })
      return done(
        { userId: user.id, code, redirectUri, state: attributes.state, expiresAt },
        { action: 'user.create-login-code', resourceId: user.id, details: { 'expired-at': expiresAt } },
      )
    },
    document: ({ result }) => document(loginCodeResource.fragment(result)),
  }),
]
