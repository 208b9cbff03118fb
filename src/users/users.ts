import { Type } from 'typebox'
import { parseId } from '../core/ids.ts'
import { emailSchema } from '../core/names.ts'
import type { UserRow } from './user-store.ts'

const SERVICE_ACCOUNT_PREFIX = 'api-'

const usernameSchema = Type.String({
  minLength: 1,
  maxLength: 90,
  pattern: '^(?![aA][pP][iI]-)[A-Za-z0-9_-]+$',
  explain: `must be 1 to 90 letters, numbers, - and _, and must not begin with ${SERVICE_ACCOUNT_PREFIX}`,
})

export const newUserBody = {
  type: 'users',
  attributes: {
    username: usernameSchema,
    email: emailSchema,
    password: Type.String({ minLength: 8, maxLength: 512, explain: 'must be a text of 8 to 512 characters' }),
    'is-admin': Type.Boolean(),
  },
  required: ['username', 'email'] as const,
}

/** The key for comparing names and emails, which ignore case. */
export function keyOf(nameOrEmail: string): string {
  return nameOrEmail.toLowerCase()
}

/** The id and user name of a team's service account. */
export function serviceAccountId(teamId: string): string {
  return `${SERVICE_ACCOUNT_PREFIX}team_${teamId.slice('team-'.length)}`
}

/** The id of a person or of a service account. */
export function parseUserId(text: string): string | undefined {
  const team = /^api-team_(.{16})$/.exec(text)?.[1]
  return team === undefined ? parseId('user', text) : parseId('team', `team-${team}`) && text
}

/** The user that an organization token acts as. It is not stored. */
export function organizationUser(organizationId: string): UserRow {
  const id = `${SERVICE_ACCOUNT_PREFIX}org_${organizationId.slice('org-'.length)}`
  return {
    id,
    username: id,
    username_key: id,
    email: null,
    email_key: null,
    password_hash: null,
    is_site_admin: 0,
    is_service_account: 1,
    is_suspended: 0,
    created_at: '',
  }
}
