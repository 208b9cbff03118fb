import { NO_ID, idInPath } from '../core/ids.ts'
import type { Call } from '../http/call.ts'
import type { Loading } from '../http/route.ts'
import { findSharedOrganization } from '../organization-memberships/membership-store.ts'
import { findTeamOfServiceAccount, teamFacts } from '../teams/team-store.ts'
import { findUser } from './user-store.ts'
import { parseUserId } from './users.ts'

type Address = { readonly userId: string }

/** What belongs to the caller, whoever it is. */
export const ownAccountPlace = {
  path: '',
  type: 'users',
  address: () => ({}),
  load: async () => ({ target: { isCallers: true } as const }),
}

/** The caller's own account, if they are a person. */
export const personPlace = {
  ...ownAccountPlace,
  load: async ({ tx, actor }: Loading<unknown>) => {
    const user = actor.kind === 'user' ? await findUser(tx, actor.userId) : undefined
    return user === undefined ? undefined : { user, target: { userId: user.id } }
  },
}

/** The user that a path names, as other members of an organization may see them. */
export const userPlace = {
  path: '/users/:user_id',
  type: 'users',
  address: ({ params }: Call): Address | undefined => {
    const userId = parseUserId(params.user_id ?? '')
    return userId === undefined ? undefined : { userId }
  },
  load: async ({ tx, address, actor, deps }: Loading<Address>) => {
    const user = await findUser(tx, address.userId)
    const organization = await findSharedOrganization(tx, actor, user?.id ?? NO_ID, deps.clock.now())
    const isServiceAccount = user?.is_service_account === 1
    const team = await findTeamOfServiceAccount(tx, isServiceAccount ? user.id : NO_ID)
    if (user === undefined || (isServiceAccount && team === undefined)) return undefined
    return {
      user,
      target: { userId: user.id, sharesOrganization: organization !== undefined },
      // A caller who may not see a team may not see its service account.
      also: team && ({ permission: 'team:read', target: { team: teamFacts(team) } } as const),
      organization,
    }
  },
}

/** The same user, for what belongs to them alone, such as their tokens. */
export const userAlonePlace = {
  ...userPlace,
  load: async ({ tx, address: { userId } }: Loading<Address>) => {
    const user = await findUser(tx, userId)
    return user === undefined ? undefined : { user, target: { userId } }
  },
}

/** The user that a path names, for the site's administrators. */
export const administeredUserPlace = {
  path: '/admin/users/:user_id',
  type: 'users',
  address: idInPath('user', 'user_id'),
  load: async ({ tx, address }: Loading<{ id: string }>) => {
    const user = await findUser(tx, address.id)
    return user === undefined ? undefined : { user, target: {} }
  },
}
