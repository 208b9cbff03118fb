import { AppError, type Problem } from '../core/errors.ts'
import type { Query } from '../jsonapi/query.ts'
import { keyOf } from '../users/users.ts'
import type { MembershipFilter } from './membership-list-store.ts'

const MAX_EMAILS = 100

/** The platform also has `inactive`. No membership here has that status. */
const statuses = ['active', 'invited', 'inactive']

/** The filters and the sort order of the query. Throws 400 for an unknown value. */
export function membershipFilterOf(query: Query, sorts: readonly string[] = []): MembershipFilter {
  const problems: Problem[] = []
  const refuse = (parameter: string, detail: string) =>
    problems.push({ detail: `${parameter} ${detail}`, parameter })
  const status = query.text('filter[status]')
  if (status !== undefined && !statuses.includes(status)) {
    refuse('filter[status]', `must be ${statuses.join(' or ')}`)
  }
  const emails = query.list('filter[email]')
  if (emails !== undefined && emails.length > MAX_EMAILS) {
    refuse('filter[email]', `may name at most ${MAX_EMAILS}`)
  }
  const isServiceAccount = query.text('filter[is_service_account]')
  if (isServiceAccount !== undefined && isServiceAccount !== 'true' && isServiceAccount !== 'false') {
    refuse('filter[is_service_account]', 'must be true or false')
  }
  const sort = sorts.length === 0 ? undefined : query.text('sort')
  if (sort !== undefined && !sorts.includes(sort)) refuse('sort', `must be ${sorts.join(' or ')}`)
  if (problems.length > 0) throw new AppError('invalid-query', problems)
  return {
    q: query.text('q'),
    emailKeys: emails?.map(keyOf),
    status,
    isServiceAccount: isServiceAccount === undefined ? undefined : isServiceAccount === 'true',
    sort: sort === undefined ? undefined : sort === 'status' ? 'asc' : 'desc',
  }
}
