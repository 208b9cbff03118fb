import type { Actor } from '../access/actor.ts'
import type { UserRow } from '../users/user-store.ts'
import type { MembershipRow } from './membership-store.ts'

type Invited = Pick<MembershipRow, 'id' | 'status' | 'user_id'>

/**
 * Whether somebody may know whose membership it is. Anybody can invite any email, so an invitation names nobody before it is
 * accepted: else the accounts of this server could be found by their emails.
 */
export function namesUser({ status, user_id: userId }: Invited, viewer: Actor): boolean {
  return status === 'active' || viewer.isSiteAdmin || viewer.userId === userId
}

/** The id of the user as the viewer is shown it: before an invitation is accepted one that is made of the membership's. */
export function shownUserId(membership: Invited, viewer: Actor): string {
  return namesUser(membership, viewer) ? membership.user_id : standInId(membership.id)
}

export function standInId(membershipId: string): string {
  return `user-${membershipId.slice(membershipId.indexOf('-') + 1)}`
}

/** What is shown instead of the user, the same whether the email has an account or not. */
export function standInUser({ id, email, created_at }: MembershipRow): UserRow {
  return {
    id: standInId(id),
    username: null,
    username_key: null,
    email,
    email_key: null,
    password_hash: null,
    is_site_admin: 0,
    is_service_account: 0,
    is_suspended: 0,
    created_at,
  }
}

/** Of a membership that ends, what the audit trail says of whose it was. */
export function removedDetails({ status, user_id, email }: MembershipRow): Record<string, unknown> {
  return status === 'active' ? { user: user_id, email } : { email }
}
