import type { SelectQueryBuilder } from 'kysely'
import type { Actor } from '../access/actor.ts'
import { letsTokenIn } from '../access/token-policy-store.ts'
import { existing } from '../core/existing.ts'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { amongFew, holdsText } from '../database/portable.ts'
import type { Tables } from '../database/tables.ts'
import { fromNearerEnd } from '../database/window.ts'
import type { Page } from '../jsonapi/paging.ts'
import {
  countMemberships,
  findMemberships,
  selectMemberships,
  type MembershipRow,
} from './membership-store.ts'

type MembershipFilter = {
  /** Part of the email, or of an active member's user name. */
  readonly q?: string
  /** Whole emails in lower case, see keyOf. */
  readonly emailKeys?: readonly string[]
  readonly status?: string
  readonly isServiceAccount?: boolean
  /** Sorts by status instead of by age. Within a status, the oldest comes first. */
  readonly sort?: 'asc' | 'desc'
}

type MembershipPage = { memberships: MembershipRow[]; total: number }

type Matching = SelectQueryBuilder<Tables, 'memberships', object>

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
  const query = tx.db.selectFrom('memberships').where('memberships.organization_id', '=', organizationId)
  const userIds = emailKeys && (await usersWith(tx, emailKeys))
  return membershipsOf(tx, filtered(tx, query, { ...filter, isServiceAccount: false }, userIds), page)
}

/** A page without filters. Read from the nearer end of an index, so that the last page is as fast as the first. */
async function listPeople(tx: Transaction, organizationId: string, page: Page): Promise<MembershipPage> {
  const total = await countMemberships(tx, organizationId)
  const offset = (page.number - 1) * page.size
  const memberships = await fromNearerEnd(total, offset, page.size, (direction, range) => {
    const ids = tx.db
      .selectFrom('memberships')
      .where('organization_id', '=', organizationId)
      .where('is_service_account', '=', 0)
      .select('id')
      .orderBy('created_at', direction)
      .orderBy('id', direction)
      .limit(range.limit)
      .offset(range.offset)
    return selectMemberships(tx)
      .where(amongFew(tx.engine, 'memberships.id', ids))
      .orderBy('memberships.created_at', direction)
      .orderBy('memberships.id', direction)
      .execute()
  })
  return { memberships, total }
}

/** A page of the memberships of a team, including invited members and the service account. */
export async function listMembershipsOfTeam(
  tx: Transaction,
  teamId: string,
  filter: Pick<MembershipFilter, 'status' | 'isServiceAccount' | 'sort'>,
  page: Page,
): Promise<MembershipPage> {
  const query = tx.db
    .selectFrom('memberships')
    .where('memberships.id', 'in', (eb) =>
      eb
        .selectFrom('team_members')
        .where('team_members.team_id', '=', teamId)
        .select('team_members.membership_id'),
    )
  return membershipsOf(tx, filtered(tx, query, filter), page, filter.sort)
}

/** A page of the caller's own memberships and invitations, in all organizations that accept the caller's token. */
export function listMembershipsOfCaller(
  tx: Transaction,
  actor: Actor,
  page: Page,
  now: Date,
): Promise<MembershipPage> {
  const query = tx.db
    .selectFrom('memberships')
    .where('memberships.user_id', '=', actor.userId)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('organizations')
          .whereRef('organizations.id', '=', 'memberships.organization_id')
          .where('organizations.deleted_at', 'is', null)
          .where((of) =>
            of.or([of('memberships.status', '=', 'invited'), letsTokenIn(of, actor, now, tx.engine)]),
          )
          .select('organizations.id'),
      ),
    )
  return membershipsOf(tx, query, page)
}

/** Read by themselves: for a list of ids, each engine looks up the membership of each user. */
async function usersWith(tx: Transaction, emailKeys: readonly string[]): Promise<string[]> {
  const found = await tx.db.selectFrom('users').where('email_key', 'in', emailKeys).select('id').execute()
  return found.length === 0 ? [NO_ID] : found.map(({ id }) => id)
}

function filtered(
  tx: Transaction,
  given: Matching,
  { q, status, isServiceAccount }: MembershipFilter,
  userIds?: readonly string[],
): Matching {
  let query = given
  if (q !== undefined) {
    const holds = (column: string) => holdsText(tx.engine, column, q)
    // Of an invited user only the email as it was invited: it may be spelled otherwise than that of an account.
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .whereRef('users.id', '=', 'memberships.user_id')
          .where((of) =>
            of.or([
              of.and([
                of('memberships.status', '=', 'active'),
                of.or([holds('users.username'), holds('users.email')]),
              ]),
              of.and([of('memberships.status', '=', 'invited'), holds('memberships.invited_email')]),
            ]),
          )
          .select('users.id'),
      ),
    )
  }
  if (userIds !== undefined) query = query.where('memberships.user_id', 'in', userIds)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an unknown status matches no row
  if (status !== undefined) query = query.where('memberships.status', '=', status as 'active')
  if (isServiceAccount !== undefined) {
    query = query.where('memberships.is_service_account', '=', isServiceAccount ? 1 : 0)
  }
  return query
}

/** Counts and sorts without the names and addresses, which are read for the page only. */
async function membershipsOf(
  tx: Transaction,
  query: Matching,
  page: Page,
  sort?: 'asc' | 'desc',
): Promise<MembershipPage> {
  const { rows: found, total } = await pageOf(query, page, (some) =>
    some
      .select('memberships.id')
      .$if(sort !== undefined, (sorted) => sorted.orderBy('memberships.status', sort))
      .orderBy('memberships.created_at')
      .orderBy('memberships.id'),
  )
  const ids = found.map(({ id }) => id)
  const byId = new Map((await findMemberships(tx, ids)).map((row) => [row.id, row]))
  return { memberships: ids.map((id) => existing(byId.get(id))), total }
}
