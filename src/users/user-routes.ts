import { read } from '../http/read-route.ts'
import type { Loading, Route } from '../http/route.ts'
import { document, type Identifier } from '../jsonapi/document.ts'
import { userFragment } from './user-document.ts'
import { ownAccountPlace, userPlace } from './user-place.ts'
import { findUser } from './user-store.ts'
import { organizationUser } from './users.ts'

/** The user that the token acts as. An audit-trails token acts as none. */
const accountPlace = {
  ...ownAccountPlace,
  path: '/account/details',
  load: async ({ tx, actor }: Loading<unknown>) => {
    const target = { isCallers: true } as const
    if (actor.kind === 'organization') {
      const { organizationId } = actor
      return organizationId === null ? undefined : { user: organizationUser(organizationId), target }
    }
    const user = await findUser(tx, actor.userId)
    return user === undefined ? undefined : { user, target }
  },
}

export const userRoutes: readonly Route[] = [
  read(accountPlace, '', {
    permission: 'account:read',
    summary: 'Show whom the token acts as',
    answers: 'users',
    document: ({ actor, deps, resource: { user } }) => {
      const resources: Record<typeof actor.kind, Identifier> = {
        user: { id: user.id, type: 'users' },
        team: { id: actor.teamId ?? '', type: 'teams' },
        organization: { id: actor.name, type: 'organizations' },
      }
      return document(userFragment(user, { actor, deps }, { authenticatedResource: resources[actor.kind] }))
    },
  }),

  read(userPlace, '', {
    permission: 'user:read',
    summary: 'Show a user',
    answers: 'users',
    document: (context) => document(userFragment(context.resource.user, context)),
  }),
]
