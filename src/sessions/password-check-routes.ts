import { Type } from 'typebox'
import { accountOf } from '../access/actor.ts'
import { timestamp } from '../core/clock.ts'
import { AppError, invalid, invalidBy } from '../core/errors.ts'
import { done } from '../http/outcome.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { readResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { personPlace } from '../users/user-place.ts'
import { lockUser } from '../users/user-store.ts'
import { clientAddressOf } from './client-address.ts'
import { sessionResource } from './session-document.ts'
import { notePasswordCheck } from './session-store.ts'

const passwordCheckBody = {
  type: 'password-checks',
  attributes: { password: Type.String({ maxLength: 512 }) },
  required: ['password'] as const,
}

const WRONG = { detail: 'password is wrong', pointer: '/data/attributes/password' }

export const passwordCheckRoutes: readonly Route[] = [
  write(personPlace, '/account/password-checks', {
    method: 'POST',
    status: 200,
    permission: 'user:tokens',
    summary: 'Give the password again, as making tokens and links with a session demands',
    answers: 'sessions',
    accepts: passwordCheckBody,
    beforeBody: async ({ actor }) => {
      if (actor.kind !== 'user' || actor.session === undefined) {
        throw invalid('only a session may do this; a token needs no password')
      }
    },
    body: (bytes) => readResource(bytes, passwordCheckBody),
    prepare: async ({ attributes: { password } }, { actor, resource: { user }, call, deps }) => {
      const { guesses, passwords, clock, config } = deps
      const { id, password_hash: stored } = user
      // As where the password is changed: a session is known.
      const asker = { account: id, address: clientAddressOf(call, config), device: accountOf(actor) }
      const isRight = await guesses.attempt({ ...asker, now: clock.now(), from: call.address }, () =>
        passwords.matches(password, stored, asker),
      )
      if (!isRight) deps.wrongPasswords.note(call, id, user)
      return { isRight: isRight && stored !== null, stored }
    },
    problems: ({ prepared, problems }) => {
      if (prepared?.isRight === false) problems.push(WRONG)
    },
    act: async ({ tx, deps, actor, resource, prepared: { stored } }) => {
      const user = await lockUser(tx, resource.user.id)
      // It was changed while this one was checked.
      if (user?.password_hash !== stored) throw invalidBy(WRONG)
      const session = await notePasswordCheck(tx, actor.tokenId, timestamp(deps.clock.now()))
      // It has ended while the password was checked.
      if (session === undefined || user?.is_suspended === 1) throw new AppError('unauthorized')
      return done(session, { action: 'session.check-password', details: { user: user?.id } })
    },
    document: ({ result: session }) => document(sessionResource.fragment({ session, sessionId: session.id })),
  }),
]
