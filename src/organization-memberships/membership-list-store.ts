import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import type { Transaction } from '../database/database.ts'
import { holdsText } from '../database/portable.ts'
import { windowOf } from '../database/window.ts'
import type { Page } from '../jsonapi/paging.ts'
import { countMemberships, selectMemberships, type MembershipRow } from './membership-store.ts'

export type MembershipFilter = {
  /** Part of the email, or of an active member's user name. */
  readonly q?: string
  /** Whole emails in lower case, see keyOf. */
  readonly emailKeys?: readonly string[]
  readonly status?: string
  readonly isServiceAccount?: boolean
  /** Sorts by status instead of by age. Within a status, the oldest comes first. */
  readonly sort?: 'asc' | 'desc'
}

export type MembershipPage = { memberships: MembershipRow[]; total: number }

type MembershipQuery = ReturnType<typeof selectMemberships>

/** A page of an organization's people, oldest membership first. */
export async function listMemberships(
  tx: Transaction,
  organizationId: string,
  filter: MembershipFilter,
  page: Page,
): Promise<MembershipPage> {
  const { q, emailKeys, status } = filter
  if (q === undefined && emailKeys === undefined && status === undefined) {
    return listPeople(tx, organizationId, page)
  }
  const query = selectMemberships(tx).where('memberships.organization_id', '=', organizationId)
  return pageOf(filtered(tx, query, { ...filter, isServiceAccount: false }), page)
}

/** A page without filters. Read from the nearer end of an index, so that the last page is as fast as the first. */
async function listPeople(tx: Transaction, organizationId: string, page: Page): Promise<MembershipPage> {
  const total = await countMemberships(tx, organizationId)
  const window = windowOf(total, (page.number - 1) * page.size, page.size)
  if (window === undefined) return { memberships: [], total }
  const direction = window.isFromEnd ? 'desc' : 'asc'
  const ids = tx.db
    .selectFrom('memberships')
    .where('organization_id', '=', organizationId)
    .where('is_service_account', '=', 0)
    .select('id')
    .orderBy('created_at', direction)
    .orderBy('id', direction)
    .limit(window.limit)
    .offset(window.offset)
  const memberships = await selectMemberships(tx)
    .where('memberships.id', 'in', ids)
    .orderBy('memberships.created_at')
    .orderBy('memberships.id')
    .execute()
  return { memberships, total }
}

/** A page of the memberships of a team, including invited members and the service account. */
export function listMembershipsOfTeam(
  tx: Transaction,
  teamId: string,
  filter: MembershipFilter,
  page: Page,
): Promise<MembershipPage> {
  const query = selectMemberships(tx).where('memberships.id', 'in', (eb) =>
    eb
      .selectFrom('team_members')
      .where('team_members.team_id', '=', teamId)
      .select('team_members.membership_id'),
  )
  return pageOf(filtered(tx, query, filter), page, filter)
}

/** A page of the caller's own memberships and invitations, in all organizations that accept the caller's token. */
export function listMembershipsOfCaller(
  tx: Transaction,
  actor: Actor,
  page: Page,
  now: Date,
): Promise<MembershipPage> {
  const query = selectMemberships(tx)
    .where('memberships.user_id', '=', actor.userId)
    .where('organizations.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('memberships.status', '=', 'invited'), letsTokenIn(eb, actor, now, tx.engine)]))
  return pageOf(query, page)
}

function filtered(tx: Transaction, given: MembershipQuery, filter: MembershipFilter): MembershipQuery {
  const { q, emailKeys, status, isServiceAccount } = filter
  let query = given
  if (q !== undefined) {
    // A search must not reveal the user name of an invited user.
    query = query.where((eb) =>
      eb.or([
        eb.and([eb('memberships.status', '=', 'active'), holdsText(tx.engine, 'users.username', q)]),
        holdsText(tx.engine, 'users.email', q),
      ]),
    )
  }
  if (emailKeys !== undefined) query = query.where('users.email_key', 'in', emailKeys)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an unknown status matches no row
  if (status !== undefined) query = query.where('memberships.status', '=', status as 'active')
  if (isServiceAccount !== undefined) {
    query = query.where('memberships.is_service_account', '=', isServiceAccount ? 1 : 0)
  }
  return query
}

async function pageOf(
  query: MembershipQuery,
  page: Page,
  { sort }: Pick<MembershipFilter, 'sort'> = {},
): Promise<MembershipPage> {
  const total = await countOf(query)
  const sorted = sort === undefined ? query : query.orderBy('memberships.status', sort)
  const memberships = await sorted
    .orderBy('memberships.created_at')
    .orderBy('memberships.id')
    .limit(page.size)
    .offset((page.number - 1) * page.size)
    .execute()
  return { memberships, total }
}

async function countOf(query: MembershipQuery): Promise<number> {
  const { count } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
