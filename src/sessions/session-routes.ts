import { idInPath } from '../core/ids.ts'
import { notFound } from '../core/errors.ts'
import { done, unchanged } from '../http/outcome.ts'
import { list, read } from '../http/read-route.ts'
import type { Loading, Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { document, listDocument } from '../jsonapi/document.ts'
import { userAlonePlace } from '../users/user-place.ts'
import { sessionResource } from './session-document.ts'
import { deleteSession, deleteSessionsOf, findSession, listSessions } from './session-store.ts'

const sessionPlace = {
  path: '/sessions/:session_id',
  type: 'sessions',
  address: idInPath('session', 'session_id'),
  load: async ({ tx, address }: Loading<{ id: string }>) => {
    const session = await findSession(tx, address.id)
    return session === undefined ? undefined : { session, target: { userId: session.user_id } }
  },
}

export const sessionRoutes: readonly Route[] = [
  list(userAlonePlace, '/sessions', {
    permission: 'user:tokens',
    summary: 'List the sessions of a user',
    answers: 'sessions',
    document: async ({ tx, actor, address, page, paging }) => {
      const { rows: sessions, total } = await listSessions(tx, address.userId, page)
      const fragments = sessions.map((session) =>
        sessionResource.fragment({ session, sessionId: actor.tokenId }),
      )
      return listDocument(fragments, paging(total))
    },
  }),

  write(userAlonePlace, '/sessions', {
    method: 'DELETE',
    status: 204,
    permission: 'user:tokens',
    summary: 'End all sessions of a user, except the one that asks',
    act: async ({ tx, actor, address: { userId } }) => {
      const count = await deleteSessionsOf(tx, userId, actor.tokenId)
      if (count === 0) return unchanged(undefined)
      return done(undefined, { action: 'session.end-all', resourceId: userId, details: { count } })
    },
  }),

  read(sessionPlace, '', {
    permission: 'user:tokens',
    summary: 'Show a session',
    answers: 'sessions',
    document: ({ actor, resource }) =>
      document(sessionResource.fragment({ ...resource, sessionId: actor.tokenId })),
  }),

  write(sessionPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'user:tokens',
    summary: 'End a session: sign out',
    act: async ({ tx, resource: { session } }) => {
      if (!(await deleteSession(tx, session.id))) throw notFound()
      return done(session, { action: 'session.end', details: { user: session.user_id } })
    },
  }),
]
