import { checkNotEnded } from '../access/caller-store.ts'
import { checkRecentPassword } from '../access/recent-password.ts'
import { othersWhoSaw } from '../authentication-tokens/handed-out-store.ts'
import { timestamp } from '../core/clock.ts'
import { existing } from '../core/existing.ts'
import { AppError, notFound } from '../core/errors.ts'
import { ok } from '../http/call.ts'
import { done, doneAll } from '../http/outcome.ts'
import { accountOf } from '../access/actor.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { readResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { endedDetails, endTokensOf } from '../login/ended-tokens.ts'
import { clientAddressOf } from '../sessions/client-address.ts'
import { deleteSessionsOf, notePasswordCheck } from '../sessions/session-store.ts'
import { userFragment } from './user-document.ts'
import { deletePasswordLinksOf } from './password-link-store.ts'
import { createPasswordLink, passwordLinkResource } from './password-links.ts'
import { administeredUserPlace, personPlace } from './user-place.ts'
import { lockUser, updateUser } from './user-store.ts'
import { changedPasswordBody, passwordLinkBody } from './users.ts'

const CURRENT = '/data/attributes/current_password'

export const passwordRoutes: readonly Route[] = [
  write(personPlace, '/account/password', {
    method: 'PATCH',
    status: 200,
    permission: 'user:tokens',
    summary:
      'Change the password of the caller, which ends all other sessions and, if asked, all other tokens',
    answers: 'users',
    accepts: changedPasswordBody,
    body: (bytes) => {
      const read = readResource(bytes, changedPasswordBody)
      const { password, password_confirmation: again } = read.attributes
      const differs = again !== undefined && password !== again
      const pointer = '/data/attributes/password_confirmation'
      const problem = { detail: 'password_confirmation differs from password', pointer }
      return { ...read, problems: differs ? [...read.problems, problem] : read.problems }
    },
    prepare: async ({ attributes }, { actor, resource: { user }, call, deps }) => {
      const { guesses, passwords, clock, config } = deps
      const before = user.password_hash
      if (before === null) return { isRight: false, before, changed: undefined }
      // All sessions and tokens of a user share one count: with a token, somebody can make more of them.
      const device = accountOf(actor)
      const asker = { account: user.id, address: clientAddressOf(call, config), device }
      const isRight = await guesses.attempt({ ...asker, now: clock.now(), from: call.address }, () =>
        passwords.matches(attributes.current_password, before, asker),
      )
      if (!isRight) {
        deps.wrongPasswords.note(call, user.id, user)
        return { isRight, before, changed: undefined }
      }
      return { isRight, before, changed: await passwords.forNew(attributes.password, asker) }
    },
    problems: ({ prepared, problems }) => {
      if (prepared === undefined) return
      const { isRight, before, changed } = prepared
      problems.push(...(changed?.problems ?? []))
      if (before === null) {
        const detail = 'this account has no password; an administrator can make a link to set one'
        problems.push({ detail, pointer: CURRENT })
      } else if (!isRight) problems.push({ detail: 'current_password is wrong', pointer: CURRENT })
    },
    act: async ({ tx, deps, actor, resource, body: { attributes }, prepared: { before, changed } }) => {
      const user = await lockUser(tx, resource.user.id)
      if (user?.is_suspended === 1) throw new AppError('unauthorized')
      await checkNotEnded(tx, actor)
      if (user?.password_hash !== before) throw notFound()
      await updateUser(tx, user.id, { password_hash: existing(changed).hash })
      await deleteSessionsOf(tx, user.id, actor.tokenId)
      await deletePasswordLinksOf(tx, user.id)
      await notePasswordCheck(tx, actor.tokenId, timestamp(deps.clock.now()))
      const endsTokens = attributes['end-tokens'] === true
      const ended = endsTokens ? await endTokensOf(tx, user.id, actor.tokenId) : undefined
      const details = { username: user.username, by: 'user', ...endedDetails(ended) }
      return done(user, { action: 'user.set-password', details })
    },
    document: (context) => {
      const { actor, result, prepared, call, deps } = context
      const answer = ok(document(userFragment(result, context)))
      if (actor.kind !== 'user' || actor.session === undefined) return answer
      // The change has ended what the browser is known by.
      const owner = { id: result.id, password_hash: existing(prepared.changed).hash }
      return { ...answer, cookies: [deps.devices.of(call, owner, deps.clock.now())] }
    },
  }),

  write(administeredUserPlace, '/password-links', {
    method: 'POST',
    status: 201,
    permission: 'users:administer',
    summary: 'Make a link with which a user sets a password once',
    answers: 'password-links',
    accepts: passwordLinkBody,
    refuses: [403],
    body: (bytes) => readResource(bytes, passwordLinkBody),
    act: async ({ tx, deps, actor, address: { id } }) => {
      checkRecentPassword(actor, deps.clock.now())
      // Whoever ends the token meanwhile may hold this row.
      await lockUser(tx, id)
      await checkNotEnded(tx, actor)
      const isSeen = (await othersWhoSaw(tx, actor)).length > 0
      const maker = { created_by_id: actor.userId, made_with_id: isSeen ? actor.tokenId : null }
      const { event, ...link } = await createPasswordLink(tx, deps, id, maker)
      return doneAll(link, [event])
    },
    document: ({ result }) => document(passwordLinkResource.fragment(result)),
  }),
]
