import { Type } from 'typebox'

const MAX_NAME_LENGTH = 90
const MAX_TEXT_LENGTH = 255

/** Names of organizations, teams, workspaces and users. They are used in paths and configurations. */
export const nameSchema = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_LENGTH,
  pattern: '^[A-Za-z0-9_-]+$',
  explain: `must be 1 to ${MAX_NAME_LENGTH} letters, numbers, - and _`,
})

export const projectNameSchema = Type.String({
  minLength: 3,
  maxLength: 40,
  pattern: '^[A-Za-z0-9_-][A-Za-z0-9 _-]*[A-Za-z0-9_-]$',
  // go-tfe searches for the first words of this message.
  complaint: 'Name may only contain letters, numbers, -, _ and spaces between them, 3 to 40 of them',
})

/** A short text such as a description, or null. */
export const shortTextSchema = Type.Union(
  // PostgreSQL text cannot contain NUL.
  [Type.String({ maxLength: MAX_TEXT_LENGTH, pattern: '^[^\\u0000]*$' }), Type.Null()],
  { explain: `must be a text of at most ${MAX_TEXT_LENGTH} characters, without NUL` },
)

export const emailSchema = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s\\u0000]+@[^@\\s\\u0000]+$',
  explain: 'must be an email address',
})

export function isName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && /^[A-Za-z0-9_-]+$/.test(text)
}
