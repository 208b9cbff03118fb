import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import type { Transaction } from '../database/database.ts'
import { holdsText } from '../database/portable.ts'
import { prepared } from '../database/prepared.ts'
import type { Page } from '../jsonapi/paging.ts'
import { selectMemberships, type MembershipRow } from './membership-store.ts'

export type MembershipFilter = {
  /** Part of the user name or email. */
  readonly q?: string
  /** Whole ones, see keyOf. */
  readonly emailKeys?: readonly string[]
  readonly status?: string
  readonly isServiceAccount?: boolean
  /** By status instead of by age; the oldest first among those of one. */
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
  const query = selectMemberships(tx).where('memberships.organization_id', '=', organizationId)
  const { q, emailKeys, status } = filter
  const isWhole = q === undefined && emailKeys === undefined && status === undefined
  const total = isWhole ? await tx.first(peopleOf, { organizationId }) : undefined
  return pageOf(filtered(tx, query, { ...filter, isServiceAccount: false }), page, { known: total?.count })
}

/** Counted without a look at each person. */
const peopleOf = prepared<{ organizationId: string }>()((db, param) =>
  db
    .selectFrom('memberships')
    .where('organization_id', '=', param('organizationId'))
    .where('is_service_account', '=', 0)
    .select((eb) => eb.fn.countAll<number>().as('count')),
)

/** A page of the memberships of a team, the invited ones and the service account's among them. */
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
  return pageOf(filtered(tx, query, filter), page, { sort: filter.sort })
}

/** A page of the caller's own, in all organizations that let his token in, and where he is invited. */
export function listMembershipsOfCaller(
  tx: Transaction,
  actor: Actor,
  page: Page,
  now: Date,
): Promise<MembershipPage> {
  const query = selectMemberships(tx)
    .where('memberships.user_id', '=', actor.userId)
    .where('organizations.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('memberships.status', '=', 'invited'), letsTokenIn(eb, actor, now)]))
  return pageOf(query, page)
}

function filtered(tx: Transaction, given: MembershipQuery, filter: MembershipFilter): MembershipQuery {
  const { q, emailKeys, status, isServiceAccount } = filter
  let query = given
  if (q !== undefined) {
    query = query.where((eb) =>
      eb.or([holdsText(tx.engine, 'users.username', q), holdsText(tx.engine, 'users.email', q)]),
    )
  }
  if (emailKeys !== undefined) query = query.where('users.email_key', 'in', emailKeys)
  if (status !== undefined) query = query.where('memberships.status', '=', status as 'active')
  if (isServiceAccount !== undefined) {
    query = query.where('memberships.is_service_account', '=', isServiceAccount ? 1 : 0)
  }
  return query
}

async function pageOf(
  query: MembershipQuery,
  page: Page,
  { sort, known }: { sort?: MembershipFilter['sort']; known?: number | undefined } = {},
): Promise<MembershipPage> {
  const count = known ?? (await countOf(query))
  const sorted = sort === undefined ? query : query.orderBy('memberships.status', sort)
  const memberships = await sorted
    .orderBy('memberships.created_at')
    .orderBy('memberships.id')
    .limit(page.size)
    .offset((page.number - 1) * page.size)
    .execute()
  return { memberships, total: count }
}

async function countOf(query: MembershipQuery): Promise<number> {
  const { count } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
