import type { Actor } from '../access/actor.ts'
import type { UserRow } from '../users/user-store.ts'
import { noAccount } from '../users/users.ts'
import type { MembershipRow } from './membership-store.ts'

type Invited = Pick<MembershipRow, 'id' | 'status' | 'user_id'>

/**
 * Whether the viewer may know the user of a membership. Anybody can invite any email, so an invitation names no user
 * until it is accepted. Otherwise invitations would reveal which emails have accounts here.
 */
export function namesUser({ status, user_id: userId }: Invited, viewer: Actor): boolean {
  return status === 'active' || viewer.isSiteAdmin || viewer.userId === userId
}

/** The user id that the viewer gets. Until an invitation is accepted, it is derived from the membership's id. */
export function shownUserId(membership: Invited, viewer: Actor): string {
  return namesUser(membership, viewer) ? membership.user_id : standInId(membership.id)
}

export function standInId(membershipId: string): string {
  return `user-${membershipId.slice(membershipId.indexOf('-') + 1)}`
}

/** Stands in for the user. The same whether the email has an account or not. */
export function standInUser({ id, email, created_at }: MembershipRow): UserRow {
  return { ...noAccount, id: standInId(id), email, created_at }
}

/** The audit details of a membership that ends: whose it was. */
export function removedDetails({ status, user_id, email }: MembershipRow): Record<string, unknown> {
  return status === 'active' ? { user: user_id, email } : { email }
}
