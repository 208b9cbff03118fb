import { isPermitted } from '../access/decide.ts'
import { NotPermitted } from '../access/not-permitted.ts'
import { invalid } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { created, noContent, ok, type Call } from '../http/call.ts'
import { readRoute, writeRoute, type Route } from '../http/route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document, type Fragment } from '../jsonapi/document.ts'
import { loadOrganization, organizationOfPath } from '../organizations/organization-of-path.ts'
import { bumpVersion, findOrganization, type OrganizationRow } from '../organizations/organization-store.ts'
import { activateTeamMembers, deleteTeamMembersOf } from '../teams/team-member-store.ts'
import { checkOwnerRemains, SERVICE_ACCOUNT_IS_KEPT } from '../teams/team-members.ts'
import { userFragment } from '../users/user-document.ts'
import { deleteUnusedInvited, findUser, type UserRow } from '../users/user-store.ts'
import { includedWithMemberships, membershipFragments } from './membership-document.ts'
import {
  activateMembership,
  deleteMembership,
  findMembership,
  teamsOfMemberships,
  type MembershipRow,
} from './membership-store.ts'
import { invitationBody, invite } from './memberships.ts'

async function loadMembership(tx: Transaction, membershipId: string) {
  const membership = await findMembership(tx, membershipId)
  if (membership === undefined) return undefined
  const organization = (await findOrganization(tx, membership.organization_id)) as OrganizationRow
  const teamsOfUser = (await teamsOfMemberships(tx, [membershipId])).map(({ team }) => team)
  return { organization, membership, target: { userId: membership.user_id, teamsOfUser } }
}

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
    const { tx, body, actor, resource, audit } = context
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
    const membership = (await findMembership(tx, id)) as MembershipRow
    const [text] = await membershipFragments(tx, [membership], context)
    const user = (await findUser(tx, membership.user_id)) as UserRow
    return created(document(text as Fragment, [userFragment(user, actor, { isMembershipReadable: true })]))
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
  load: ({ tx, address }) => loadMembership(tx, address.membershipId),
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
    const accepted = (await findMembership(tx, membership.id)) as MembershipRow
    const current = (await findOrganization(tx, organization.id)) as OrganizationRow
    const standing = await deps.standings.in(tx, actor, current)
    const [text] = await membershipFragments(tx, [accepted], { actor, standing })
    return ok(document(text as Fragment))
  },
})

const show = readRoute({
  path: '/organization-memberships/:organization_membership_id',
  permission: 'membership:read',
  summary: 'Show a membership',
  query: { include: 'user, teams' },
  answers: 'organization-memberships',
  address: (call) => {
    const include = call.query.include(['user', 'teams'])
    const address = membershipOfPath(call)
    return address === undefined ? undefined : { ...address, include }
  },
  load: ({ tx, address }) => loadMembership(tx, address.membershipId),
  document: async (context) => {
    const { tx, actor, standing, resource, address } = context
    const { membership, target } = resource
    const hidden = target.teamsOfUser.find((team) => !isPermitted('team:read', actor, standing, { team }))
    // Whoever may not see a team learns nothing of its service account.
    if (membership.is_service_account === 1 && hidden !== undefined) {
      throw new NotPermitted('team:read', { team: hidden })
    }
    const [text] = await membershipFragments(tx, [membership], context)
    return ok(
      document(text as Fragment, await includedWithMemberships(context, [membership], address.include)),
    )
  },
})

const remove = writeRoute({
  method: 'DELETE',
  path: '/organization-memberships/:organization_membership_id',
  permission: 'membership:remove',
  summary: 'Remove somebody from an organization',
  status: 204,
  address: membershipOfPath,
  load: ({ tx, address }) => loadMembership(tx, address.membershipId),
  act: async ({ tx, resource, audit }) => {
    const { organization, membership } = resource
    if (membership.is_service_account === 1) throw invalid(SERVICE_ACCOUNT_IS_KEPT)
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
      details: { user: membership.user_id, email: membership.email },
    })
    return noContent
  },
})

export const membershipRoutes: readonly Route[] = [inviteRoute, accept, show, remove]
