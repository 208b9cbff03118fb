import type { Actor } from '../access/actor.ts'
import { checkRecentPassword } from '../access/recent-password.ts'
import { endHandedOut } from '../authentication-tokens/handed-out.ts'
import { endLeftTokensEverywhere, lockOrganizationsOfSeen } from '../authentication-tokens/left-everywhere.ts'
import { existing } from '../core/existing.ts'
import { AppError, invalid, notFound, type Problem } from '../core/errors.ts'
import type { Transaction } from '../database/database.ts'
import { dryRunOfUserEnding } from '../effective-access/leaving-dry-run.ts'
import type { DryRun } from '../http/dry-run.ts'
import { doneAll, unchanged } from '../http/outcome.ts'
import type { Route, Viewer } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { parseResource } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { removedDetails } from '../organization-memberships/invited-user.ts'
import {
  deleteMembership,
  membershipsOfUser,
  type MembershipRow,
} from '../organization-memberships/membership-store.ts'
import { bumpVersion, findOrganization } from '../organizations/organization-store.ts'
import { flag } from '../jsonapi/parameters.ts'
import { deleteSessionsOf } from '../sessions/session-store.ts'
import { deleteTeamMembersOf } from '../teams/team-member-store.ts'
import { isLastOwner } from '../teams/team-members.ts'
import { deletePasswordLinksOf } from './password-link-store.ts'
import { userFragment } from './user-document.ts'
import { administeredUserPlace } from './user-place.ts'
import { deleteUser, lockWithAdministrators, updateUser, type UserRow } from './user-store.ts'

/** Throws 403 if no site administrator would be left. */
function checkAdministratorRemains(leaving: UserRow, administrators: readonly string[]): void {
  if (administrators.length === 1 && administrators.includes(leaving.id)) {
    throw new AppError('forbidden', [{ detail: 'this is the last site administrator' }])
  }
}

/**
 * The rows that decide who may act: the user, and all administrators. The caller is one of them; throws 503 if they were
 * suspended, revoked or deleted while this write waited for their rows.
 */
async function lockDeciding(
  tx: Transaction,
  actor: Actor,
  id: string,
): Promise<{ user: UserRow; administrators: string[] }> {
  const { user, administrators } = await lockWithAdministrators(tx, id)
  if (user === undefined) throw notFound()
  if (actor.userId !== null && !administrators.includes(actor.userId)) throw changedMeanwhile()
  return { user, administrators }
}

/** The next attempt is judged by what is true now. */
function changedMeanwhile(): AppError {
  return new AppError('unavailable', 'what this change rests on has just changed; try again')
}

type UserAction = {
  name: 'suspend' | 'unsuspend' | 'grant_admin' | 'revoke_admin'
  summary: string
  changes: { is_suspended: 0 | 1 } | { is_site_admin: 0 | 1 }
  check?: (user: UserRow, administrators: readonly string[]) => void
  dryRun?: (context: Viewer & { readonly resource: { readonly user: UserRow } }) => Promise<DryRun>
}

const body = { type: 'users', isLenient: true } as const

const END_TOKENS = 'Also end the tokens of teams and organizations that the user has made or seen'

/** POST admin/users/:user_id/actions/NAME sets one attribute. If it already has the value, nothing changes. */
function actionRoute({ name, summary, changes, check, dryRun }: UserAction): Route {
  const isEnding = check === checkAdministratorRemains
  return write(administeredUserPlace, `/actions/${name}`, {
    method: 'POST',
    status: 200,
    permission: 'users:administer',
    summary,
    answers: 'users',
    ...(isEnding || name === 'grant_admin' ? { refuses: [403] } : {}),
    accepts: body,
    body: (bytes, { address }) => parseResource(bytes, body, address?.id),
    ...(isEnding ? { query: { 'end-tokens': flag(END_TOKENS) } } : {}),
    act: async (context) => {
      const { tx, deps, actor, address } = context
      if (name === 'grant_admin') checkRecentPassword(actor, deps.clock.now())
      const { 'end-tokens': endsTokens } = context.query
      if (endsTokens) await lockOrganizationsOfSeen(tx, address.id)
      const { user, administrators } = await lockDeciding(tx, actor, address.id)
      const endings = endsTokens ? await endLeftTokensEverywhere(context, user.id) : []
      const changed = { ...user, ...changes }
      if (changed.is_suspended === user.is_suspended && changed.is_site_admin === user.is_site_admin) {
        const [first, ...others] = endings
        return first === undefined ? unchanged(user) : doneAll(user, [first, ...others])
      }
      check?.(user, administrators)
      await updateUser(tx, user.id, changes)
      const details = { username: user.username, ...(await endHandedOut(tx, user.id)) }
      if (name === 'grant_admin') await deletePasswordLinksOf(tx, user.id)
      // The end of a suspension brings back nothing, whichever release began it.
      if ('is_suspended' in changes) {
        await deleteSessionsOf(tx, user.id)
        await deletePasswordLinksOf(tx, user.id)
      }
      const action = `user.${name.replace('_', '-')}`
      return doneAll(changed, [...endings, { action, resourceType: 'users', resourceId: user.id, details }])
    },
    document: (context) => document(userFragment(context.result, context)),
    dryRun,
  })
}

function checkHasAccount(user: UserRow): void {
  if (user.username === null) throw invalid('this user was invited and has no account yet')
}

/** Throws 403 that names every organization which would be left without an owner. */
async function checkOwnersRemain(tx: Transaction, memberships: readonly MembershipRow[]): Promise<void> {
  const problems: Problem[] = []
  for (const membership of memberships) {
    const organization = existing(await findOrganization(tx, membership.organization_id))
    if (organization.deleted_at !== null) continue
    if (await isLastOwner(tx, organization, [membership.user_id])) {
      problems.push({ detail: `this is the last owner of the organization ${organization.name}` })
    }
  }
  if (problems.length > 0) throw new AppError('forbidden', problems)
}

export const adminUserActionRoutes: readonly Route[] = [
  actionRoute({
    name: 'suspend',
    summary: 'Suspend a user',
    changes: { is_suspended: 1 },
    check: checkAdministratorRemains,
    dryRun: (context) => dryRunOfUserEnding(context, context.resource.user),
  }),
  actionRoute({
    name: 'unsuspend',
    summary: "End a user's suspension",
    changes: { is_suspended: 0 },
  }),
  actionRoute({
    name: 'grant_admin',
    summary: 'Make a user a site administrator',
    changes: { is_site_admin: 1 },
    check: checkHasAccount,
  }),
  actionRoute({
    name: 'revoke_admin',
    summary: 'Revoke the site administration of a user',
    changes: { is_site_admin: 0 },
    check: checkAdministratorRemains,
  }),

  write(administeredUserPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'users:administer',
    summary: 'Delete a user',
    refuses: [403],
    dryRun: (context) => dryRunOfUserEnding(context, context.resource.user),
    query: { 'end-tokens': flag(END_TOKENS) },
    act: async (context) => {
      const { tx, actor, query, resource } = context
      const before = await membershipsOfUser(tx, resource.user.id)
      const theirs = before.map((membership) => membership.organization_id)
      const locked = await lockOrganizationsOfSeen(tx, resource.user.id, theirs)
      const { user, administrators } = await lockDeciding(tx, actor, resource.user.id)
      checkAdministratorRemains(user, administrators)
      const memberships = await membershipsOfUser(tx, user.id)
      if (memberships.some((membership) => !locked.has(membership.organization_id))) throw changedMeanwhile()
      await checkOwnersRemain(tx, memberships)
      const events = query['end-tokens'] ? await endLeftTokensEverywhere(context, user.id) : []
      for (const membership of memberships) {
        await deleteTeamMembersOf(tx, membership.id)
        await deleteMembership(tx, membership.id)
        await bumpVersion(tx, membership.organization_id)
        events.push({
          action: 'membership.delete',
          organizationId: membership.organization_id,
          resourceType: 'organization-memberships',
          resourceId: membership.id,
          details: removedDetails(membership),
        })
      }
      await deleteUser(tx, user.id)
      const details = { username: user.username, ...(await endHandedOut(tx, user.id)) }
      const deletion = { action: 'user.delete', resourceType: 'users', resourceId: user.id, details }
      return doneAll(user, [...events, deletion])
    },
  }),
]
