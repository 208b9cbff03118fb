import { invalidQuery } from '../core/errors.ts'
import { choice, commaSeparated, text, type QueryParameter } from '../jsonapi/parameters.ts'
import { keyOf } from '../users/users.ts'

const MAX_EMAILS = 100

/** The platform also has `inactive`. No membership here has that status, so the API description does not name it. */
export const statusFilter = {
  'filter[status]': {
    ...choice('Memberships with this status', 'active', 'invited', 'inactive'),
    values: ['active', 'invited'],
  },
}

/** The emails as `keyOf` spells them. */
const emails: QueryParameter<readonly string[] | undefined> = {
  ...commaSeparated('Whole emails, separated by commas'),
  read: (query, name) => {
    const given = query.list(name)
    if (given !== undefined && given.length > MAX_EMAILS) {
      const detail = `${name} may name at most ${MAX_EMAILS}`
      throw invalidQuery(detail, name)
    }
    return given?.map(keyOf)
  },
}

/** Filters of the memberships of an organization. */
export const membershipFilter = {
  q: text("Part of the email, or of an active member's user name, ignoring case"),
  'filter[email]': emails,
  ...statusFilter,
}
