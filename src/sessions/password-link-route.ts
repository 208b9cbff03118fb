import { Type } from 'typebox'
import { hashToken } from '../access/actor-store.ts'
import { AppError } from '../core/errors.ts'
import { withOpenBody } from '../http/body.ts'
import { json } from '../http/call.ts'
import type { RawRoute } from '../http/raw-route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { closedObject, nullable } from '../jsonapi/description.ts'
import { findPasswordLink } from '../users/password-link-store.ts'
import { findUser } from '../users/user-store.ts'
import { strangerOf } from './client-address.ts'
import { text, WRONG_LINK } from './sign-in-route.ts'

const body = { type: 'password-links', attributes: { link: text }, required: ['link'] as const }

/**
 * Whose password a link sets, for those who have its secret. The link stays as it is. The secret is in the body, so that
 * it is in no log and no history.
 */
export const passwordLinkRoute: RawRoute = {
  method: 'POST',
  path: '/api/v2/password-links/show',
  summary: 'Show whose password a link sets',
  accepts: body,
  answersJson: closedObject({
    username: nullable(Type.String()),
    email: nullable(Type.String()),
  }),
  open: 'the secret of the link is the right',
  answer: async (call, deps) => {
    const { link } = await withOpenBody(call, deps, (bytes) => parseResource(bytes, body).attributes)
    const user = await deps.database.read(
      async (tx) => {
        const found = await findPasswordLink(tx, hashToken(link), deps.clock.now())
        // The same statements without a link, and for somebody who may not sign in.
        const owner = await findUser(tx, found?.user_id ?? '')
        return owner?.is_suspended === 0 ? owner : undefined
      },
      strangerOf(call, deps.config),
    )
    if (user === undefined) throw new AppError('unauthorized', WRONG_LINK)
    const { username, email } = user
    return json({ username, email })
  },
}
