import type { Actor } from '../access/actor.ts'
import { isPermitted } from '../access/decide.ts'
import { nowhere } from '../access/standing.ts'
import { existing } from '../core/existing.ts'
import { invalid } from '../core/errors.ts'
import { NO_ID, parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import type { Deps } from '../http/deps.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion, findOrganization } from '../organizations/organization-store.ts'
import { activateTeamMembers, deleteTeamMembersOf } from '../teams/team-member-store.ts'
import { checkOwnerRemains, SERVICE_ACCOUNT_IS_KEPT } from '../teams/team-members.ts'
import { deleteUnusedInvited } from '../users/user-store.ts'
import { removedDetails, standInId } from './invited-user.ts'
import { includedWithMemberships, membershipFragments } from './membership-document.ts'
import {
  activateMembership,
  deleteMembership,
  findMembership,
  teamsOfMembership,
} from './membership-store.ts'
import { invitationBody, invite } from './memberships.ts'
import { includes } from '../jsonapi/parameters.ts'

type Context = { tx: Transaction; actor: Actor; deps: Deps; address: { membershipId: string } }

async function loadMembership({ tx, actor, deps, address: { membershipId } }: Context) {
  const membership = await findMembership(tx, membershipId)
  const organization = await findOrganization(tx, membership?.organization_id ?? NO_ID)
  const standing = await deps.standings.in(tx, actor, organization ?? nowhere)
  const target = { userId: membership?.user_id ?? null }
  // There may be many teams. They are not read if the caller may not know the user, because the time would reveal them.
  const isKnown = membership !== undefined && isPermitted('membership:read', actor, standing, target)
  const teamsOfUser = await teamsOfMembership(tx, isKnown ? membershipId : NO_ID)
  if (membership === undefined || organization === undefined) return undefined
  const [team] = membership.is_service_account === 1 ? teamsOfUser : []
  return {
    organization,
    membership,
    target: isKnown ? { ...target, teamsOfUser } : target,
    // A service account reveals its team, so a caller who may not see the team may not see the account.
    also: team && ({ permission: 'team:read', target: { team } } as const),
  }
}

const NOT_REMOVABLE =
  'this member is in a team that you do not see or may not change, so only an owner may remove them'

const membershipOfPath = (call: Call) => {
  const membershipId = parseId('membership', call.params.organization_membership_id as string)
  return membershipId === undefined ? undefined : { membershipId }
}

const inviteRoute = writeRoute({
  method: 'POST',
  path: '/organizations/:organization_name/organization-memberships',
  permission: 'membership:invite',
  summary: 'Invite somebody to an organization',
  answers: 'organization-memberships',
  status: 201,
  accepts: invitationBody,
  address: (call) => {
    const name = organizationOfPath(call)
    return name === undefined ? undefined : { name }
  },
  load: ({ tx, address }) => loadOrganization(tx, address.name),
  body: (bytes) => {
    const { attributes, relationships } = parseResource(bytes, invitationBody)
    const teamIds = relationships.teams?.data.map(({ id }) => id) ?? []
    return { email: attributes.email as string, teamIds }
  },
  act: async (context) => {
    const { tx, body, resource, audit } = context
    const { organization } = resource
    const id = await invite(context, body.email, body.teamIds)
    await bumpVersion(tx, organization.id)
    audit({
      action: 'membership.invite',
      organizationId: organization.id,
      resourceType: 'organization-memberships',
      resourceId: id,
      details: { email: body.email, teams: body.teamIds },
    })
    const membership = existing(await findMembership(tx, id))
    const viewer = { ...context, later: new LaterParts() }
    const [text] = await membershipFragments(tx, [membership], viewer)
    const included = await includedWithMemberships(viewer, [membership], new Set(['user']))
    // The time must not reveal whether the email already has an account.
    return { ...created(document(text as Fragment, included)), isSteady: true }
  },
})

const accept = writeRoute({
  method: 'POST',
  path: '/organization-memberships/:organization_membership_id/actions/accept',
  permission: 'membership:accept',
  summary: 'Accept an invitation',
  answers: 'organization-memberships',
  status: 200,
  accepts: { type: 'organization-memberships', isLenient: true },
  address: membershipOfPath,
  load: loadMembership,
  body: (bytes, { membershipId }) =>
    parseResource(bytes, { type: 'organization-memberships', isLenient: true }, membershipId),
  act: async (context) => {
    const { tx, deps, actor, resource, audit, unchanged } = context
    const { membership, organization } = resource
    if (membership.status === 'active') unchanged()
    else {
      await activateMembership(tx, membership.id)
      await activateTeamMembers(tx, membership.id)
      await bumpVersion(tx, organization.id)
      audit({
        action: 'membership.accept',
        organizationId: organization.id,
        resourceType: 'organization-memberships',
        resourceId: membership.id,
      })
    }
    const accepted = existing(await findMembership(tx, membership.id))
    const current = existing(await findOrganization(tx, organization.id))
    const standing = await deps.standings.in(tx, actor, current)
    const later = new LaterParts()
    const [text] = await membershipFragments(tx, [accepted], { deps, actor, standing, later })
    return ok(later.bodyOf(document(text as Fragment)))
  },
})

const show = readRoute({
  path: '/organization-memberships/:organization_membership_id',
  permission: 'membership:read',
  summary: 'Show a membership',
  query: { include: includes('user', 'teams') },
  answers: 'organization-memberships',
  address: (call) => {
    const include = call.query.include(['user', 'teams'])
    const address = membershipOfPath(call)
    return address === undefined ? undefined : { ...address, include }
  },
  load: loadMembership,
  document: async (reader) => {
    const { tx, resource, address } = reader
    const context = { ...reader, later: new LaterParts() }
    const { membership } = resource
    const [text] = await membershipFragments(tx, [membership], context)
    const included = await includedWithMemberships(context, [membership], address.include)
    return ok(context.later.bodyOf(document(text as Fragment, included)))
  },
})

const remove = writeRoute({
  method: 'DELETE',
  path: '/organization-memberships/:organization_membership_id',
  permission: 'membership:remove',
  summary: 'Remove somebody from an organization',
  status: 204,
  refuses: [403],
  address: membershipOfPath,
  load: loadMembership,
  // A caller who may read the membership does not get a 404 for it.
  refusal: ({ actor, standing, resource: { target, also } }) =>
    isPermitted('membership:read', actor, standing, target) &&
    (also === undefined || isPermitted(also.permission, actor, standing, also.target))
      ? NOT_REMOVABLE
      : undefined,
  act: async ({ tx, actor, resource, audit }) => {
    const { organization, membership } = resource
    if (membership.is_service_account === 1) throw invalid(SERVICE_ACCOUNT_IS_KEPT)
    const isDeclined = membership.status === 'invited' && actor.userId === membership.user_id
    await checkOwnerRemains(tx, organization, [membership.user_id])
    await deleteTeamMembersOf(tx, membership.id)
    await deleteMembership(tx, membership.id)
    await deleteUnusedInvited(tx, [membership.user_id])
    await bumpVersion(tx, organization.id)
    audit({
      action: 'membership.delete',
      organizationId: organization.id,
      resourceType: 'organization-memberships',
      resourceId: membership.id,
      details: removedDetails(membership),
      ...(isDeclined ? { actor: { kind: 'user', userId: standInId(membership.id) } } : {}),
    })
    if (isDeclined) {
      // Only site administrators may know who declined.
      audit({
        action: 'membership.decline',
        resourceType: 'organization-memberships',
        resourceId: membership.id,
        details: { organization: organization.name },
      })
    }
    return noContent
  },
})

export const membershipRoutes: readonly Route[] = [inviteRoute, accept, show, remove]
