import { NO_ID } from '../core/ids.ts'
import { ok } from '../http/call.ts'
import { readRoute, type Route } from '../http/route.ts'
import { document, type Identifier } from '../jsonapi/document.ts'
import { findSharedOrganization } from '../organization-memberships/membership-store.ts'
import { findTeamOfServiceAccount, teamFacts } from '../teams/team-store.ts'
import { userFragment } from './user-document.ts'
import { findUser } from './user-store.ts'
import { organizationUser, parseUserId } from './users.ts'

const accountDetails = readRoute({
  path: '/account/details',
  permission: 'account:read',
  summary: 'Show whom the token acts as',
  answers: 'users',
  address: () => ({}),
  load: async ({ tx, actor }) => {
    if (actor.kind === 'organization') {
      // An audit-trails token acts as no user.
      return actor.organizationId === null
        ? undefined
        : { user: organizationUser(actor.organizationId), target: { isCallers: true } }
    }
    const user = await findUser(tx, actor.userId as string)
    return user === undefined ? undefined : { user, target: { isCallers: true } }
  },
  document: async ({ actor, resource }) => {
    const resources: Record<typeof actor.kind, Identifier> = {
      user: { id: resource.user.id, type: 'users' },
      team: { id: actor.teamId ?? '', type: 'teams' },
      organization: { id: actor.name, type: 'organizations' },
    }
    return ok(document(userFragment(resource.user, actor, { authenticatedResource: resources[actor.kind] })))
  },
})

const showUser = readRoute({
  path: '/users/:user_id',
  permission: 'user:read',
  summary: 'Show a user',
  answers: 'users',
  address: (call) => {
    const userId = parseUserId(call.params.user_id as string)
    return userId === undefined ? undefined : { userId }
  },
  load: async ({ tx, address, actor, deps }) => {
    const user = await findUser(tx, address.userId)
    const organization = await findSharedOrganization(tx, actor, user?.id ?? NO_ID, deps.clock.now())
    const isServiceAccount = user?.is_service_account === 1
    const team = await findTeamOfServiceAccount(tx, isServiceAccount ? user.id : NO_ID)
    if (user === undefined || (isServiceAccount && team === undefined)) return undefined
    return {
      user,
      target: { userId: user.id, sharesOrganization: organization !== undefined },
      // A caller who may not see a team may not see its service account.
      also: team && { permission: 'team:read', target: { team: teamFacts(team) } },
      ...(organization === undefined ? {} : { organization }),
    }
  },
  document: async ({ actor, resource }) => ok(document(userFragment(resource.user, actor))),
})

export const userRoutes: readonly Route[] = [accountDetails, showUser]
