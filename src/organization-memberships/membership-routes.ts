import { isPermitted } from '../access/decide.ts'
import { endLeftTokens, leftTokensOf } from '../authentication-tokens/handed-out.ts'
import { existing } from '../core/existing.ts'
import { invalid } from '../core/errors.ts'
import { dryRunOfRemoval } from '../effective-access/leaving-dry-run.ts'
import { created } from '../http/call.ts'
import { done, doneAll, unchanged } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { parseResource, readResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { LaterParts } from '../jsonapi/later-parts.ts'
import { flag, includes } from '../jsonapi/parameters.ts'
import { organizationPlace } from '../organizations/organization-place.ts'
import { findOrganization } from '../organizations/organization-store.ts'
import { activateTeamMembers, deleteTeamMembersOf } from '../teams/team-member-store.ts'
import { checkOwnerRemains, SERVICE_ACCOUNT_IS_KEPT } from '../teams/team-members.ts'
import { deleteUnusedInvited } from '../users/user-store.ts'
import { removedDetails, standInId } from './invited-user.ts'
import { includedWithMemberships, membershipFragments } from './membership-includes.ts'
import { membershipPlace } from './membership-place.ts'
import { activateMembership, deleteMembership, findMembership } from './membership-store.ts'
import { checkInvitation, invitationBody, invite } from './memberships.ts'

const NOT_REMOVABLE =
  'this member is in a team that you do not see or may not change, so only an owner may remove them'
const END_TOKENS =
  'Also end the tokens of the organization and its teams that the person has made or seen, and that the caller may end'
const acceptanceBody = { type: 'organization-memberships', isLenient: true } as const

export const membershipRoutes: readonly Route[] = [
  write(organizationPlace, '/organization-memberships', {
    method: 'POST',
    status: 201,
    permission: 'membership:invite',
    summary: 'Invite somebody to an organization',
    answers: 'organization-memberships',
    accepts: invitationBody,
    body: (bytes) => {
      const { attributes, relationships, problems } = readResource(bytes, invitationBody)
      const teamIds = relationships.teams?.data.map(({ id }) => id) ?? []
      return { email: attributes.email, teamIds, problems }
    },
    problems: (context) => {
      const { email, teamIds } = context.body
      return checkInvitation(context, email, teamIds, context.problems)
    },
    act: async (context) => {
      const { email, teamIds } = context.body
      const id = await invite(context, email, context.checked)
      const details = { email, teams: teamIds }
      return done({ id }, { action: 'membership.invite', details })
    },
    document: async (context) => {
      const membership = existing(await findMembership(context.tx, context.result.id))
      const viewer = { ...context, later: new LaterParts() }
      const [fragment] = await membershipFragments(viewer, [membership])
      const included = await includedWithMemberships(viewer, [membership], new Set(['user']))
      // The time must not reveal whether the email already has an account.
      return { ...created(document(existing(fragment), included)), isSteady: true }
    },
  }),

  write(membershipPlace, '/actions/accept', {
    method: 'POST',
    status: 200,
    permission: 'membership:accept',
    summary: 'Accept an invitation',
    answers: 'organization-memberships',
    accepts: acceptanceBody,
    body: (bytes, { address }) => parseResource(bytes, acceptanceBody, address?.id),
    act: async ({ tx, resource: { membership } }) => {
      if (membership.status === 'active') return unchanged(membership)
      await activateMembership(tx, membership.id)
      await activateTeamMembers(tx, membership.id)
      return done(membership, { action: 'membership.accept', details: {} })
    },
    document: async ({ tx, deps, actor, resource, result }) => {
      const accepted = existing(await findMembership(tx, result.id))
      // The caller's standing is another one now.
      const organization = existing(await findOrganization(tx, resource.organization.id))
      const standing = await deps.standings.in(tx, actor, organization)
      const later = new LaterParts()
      const [fragment] = await membershipFragments({ tx, deps, actor, standing, later }, [accepted])
      return later.bodyOf(document(existing(fragment)))
    },
  }),

  read(membershipPlace, '', {
    permission: 'membership:read',
    summary: 'Show a membership',
    query: { include: includes('user', 'teams') },
    answers: 'organization-memberships',
    isPolled: true,
    document: async (reader) => {
      const context = { ...reader, later: new LaterParts() }
      const { resource, query } = context
      const { membership } = resource
      const [fragment] = await membershipFragments(context, [membership])
      const included = await includedWithMemberships(context, [membership], query.include)
      return context.later.bodyOf(document(existing(fragment), included))
    },
  }),

  write(membershipPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'membership:remove',
    summary: 'Remove somebody from an organization',
    query: { 'end-tokens': flag(END_TOKENS) },
    refuses: [403],
    // A caller who may read the membership does not get a 404 for it.
    refusal: ({ actor, standing, resource: { target, also } }) =>
      isPermitted('membership:read', actor, standing, target) &&
      (also === undefined || isPermitted(also.permission, actor, standing, also.target))
        ? NOT_REMOVABLE
        : undefined,
    dryRun: (context) => dryRunOfRemoval(context, context.resource),
    act: async (context) => {
      const { tx, actor, query, resource } = context
      const { organization, membership } = resource
      if (membership.is_service_account === 1) throw invalid(SERVICE_ACCOUNT_IS_KEPT)
      await checkOwnerRemains(tx, organization, [membership.user_id])
      const isEnding = query['end-tokens'] && membership.status === 'active'
      const left = isEnding ? await leftTokensOf(context, organization, membership.user_id) : []
      const endings = await endLeftTokens(tx, organization, left)
      await deleteTeamMembersOf(tx, membership.id)
      await deleteMembership(tx, membership.id)
      await deleteUnusedInvited(tx, [membership.user_id])
      const about = { resourceType: 'organization-memberships', resourceId: membership.id }
      const removal = { ...about, action: 'membership.delete', details: removedDetails(membership) }
      if (membership.status !== 'invited' || actor.userId !== membership.user_id)
        return doneAll(membership, [...endings, { ...removal, organizationId: organization.id }])
      const standIn = { kind: 'user', userId: standInId(membership.id) } as const
      return doneAll(membership, [
        { ...removal, organizationId: organization.id, actor: standIn },
        // Only site administrators may know who declined.
        {
          ...about,
          action: 'membership.decline',
          organizationId: null,
          details: { organization: organization.name },
        },
      ])
    },
  }),
]
