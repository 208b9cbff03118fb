import { Type } from 'typebox'
import type { Problem } from '../core/errors.ts'
import { parseId } from '../core/ids.ts'
import { emailSchema } from '../core/names.ts'
import type { UserRow } from './user-store.ts'

const SERVICE_ACCOUNT_PREFIX = 'api-'

export const usernameSchema = Type.String({
  minLength: 1,
  maxLength: 90,
  pattern: '^(?![aA][pP][iI]-)[A-Za-z0-9_-]+$',
  explain: `must be 1 to 90 letters, numbers, - and _, and must not begin with ${SERVICE_ACCOUNT_PREFIX}`,
})

const MIN_PASSWORD_LENGTH = 8

const passwordSchema = Type.String({
  minLength: MIN_PASSWORD_LENGTH,
  maxLength: 512,
  explain: 'must be a text of 8 to 512 characters',
})

export const changedPasswordBody = {
  type: 'users',
  // The platform spells these with underscores.
  attributes: {
    current_password: Type.String({ maxLength: 512 }),
    password: passwordSchema,
    password_confirmation: Type.String(),
    // Ours. Ends all tokens of the caller except the one that asks.
    'end-tokens': Type.Boolean(),
  },
  required: ['current_password', 'password', 'password_confirmation'] as const,
}

export const passwordLinkBody = { type: 'password-links', attributes: {}, isLenient: true } as const

export const newUserBody = {
  type: 'users',
  attributes: {
    username: usernameSchema,
    email: emailSchema,
    password: passwordSchema,
    'is-admin': Type.Boolean(),
  },
  required: ['username', 'email'] as const,
}

export function isTooShort(password: string): boolean {
  return password.length < MIN_PASSWORD_LENGTH
}

/** The problems of a new password. */
export function passwordProblems(password: string): Problem[] {
  if (!password.isWellFormed()) {
    return [{ detail: 'password must be valid Unicode', pointer: '/data/attributes/password' }]
  }
  if (normalized(password).length >= MIN_PASSWORD_LENGTH) return []
  return [
    {
      detail: `password must have at least ${MIN_PASSWORD_LENGTH} characters`,
      pointer: '/data/attributes/password',
    },
  ]
}

/** The same password has one form, however it was typed. */
export function normalized(password: string): string {
  return password.normalize('NFKC')
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

/** The columns of a user who has no account. */
export const noAccount = {
  username: null,
  username_key: null,
  email: null,
  email_key: null,
  password_hash: null,
  is_site_admin: 0,
  is_service_account: 0,
  is_suspended: 0,
} as const

/** The user that an organization token acts as. It is not stored. */
export function organizationUser(organizationId: string): UserRow {
  const id = `${SERVICE_ACCOUNT_PREFIX}org_${organizationId.slice('org-'.length)}`
  return { ...noAccount, id, username: id, username_key: id, is_service_account: 1, created_at: '' }
}
