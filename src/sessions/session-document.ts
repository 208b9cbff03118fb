import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import {
  relationOne,
  schemasIn,
  timeSchema,
  valuesIn,
  type Fields,
  type ResourceDescription,
} from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { SessionRow } from './session-store.ts'

const fields: Fields<{ session: SessionRow; sessionId: string }> = {
  'created-at': [timeSchema, ({ session }) => session.created_at],
  'last-used-at': [timeSchema, ({ session }) => session.last_used_at],
  'expired-at': [timeSchema, ({ session }) => session.expires_at],
  'user-agent': [Type.String(), ({ session }) => session.user_agent],
  'is-current': [Type.Boolean(), ({ session, sessionId }) => session.id === sessionId],
}

export const sessionDescription: ResourceDescription = {
  type: 'sessions',
  attributes: schemasIn(fields),
  relationships: { user: relationOne('users') },
  links: { self: Type.String() },
}

/**
 * The only function that builds `"type": "sessions"`.
 *
 * @param viewer whose session is the current one
 */
export function sessionFragment(
  session: SessionRow,
  { tokenId: sessionId }: Pick<Actor, 'tokenId'>,
): Fragment {
  return fragment({
    id: session.id,
    type: 'sessions',
    attributes: valuesIn(fields, { session, sessionId }),
    relationships: { user: { data: { id: session.user_id, type: 'users' } } },
    links: { self: `/api/v2/sessions/${session.id}` },
  })
}
