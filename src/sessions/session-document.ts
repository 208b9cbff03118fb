import { Type } from 'typebox'
import { nullable, relationOne, resourceType, timeSchema } from '../jsonapi/description.ts'
import type { SessionRow } from './session-store.ts'

/** `sessionId`: the viewer's current session. */
type SessionView = { readonly session: SessionRow; readonly sessionId: string }

export const sessionResource = resourceType<SessionView>({
  type: 'sessions',
  id: ({ session }) => session.id,
  attributes: {
    'created-at': [timeSchema, ({ session }) => session.created_at],
    'last-used-at': [timeSchema, ({ session }) => session.last_used_at],
    'password-checked-at': [timeSchema, ({ session }) => session.password_checked_at ?? session.created_at],
    'expired-at': [timeSchema, ({ session }) => session.expires_at],
    'user-agent': [Type.String(), ({ session }) => session.user_agent],
    address: [nullable(Type.String()), ({ session }) => session.address],
    'is-current': [Type.Boolean(), ({ session, sessionId }) => session.id === sessionId],
  },
  relationships: { user: relationOne('users') },
  related: ({ session }) => ({ user: { data: { id: session.user_id, type: 'users' } } }),
  self: ({ session }) => `/api/v2/sessions/${session.id}`,
})
