import type { Generated } from 'kysely'

/** A browser in which a user has signed in. */
export type SessionTable = {
  id: string
  /** SHA-256 of the secret in the browser's cookie, in hexadecimal. */
  hash: string
  user_id: string
  /** What the browser calls itself. */
  user_agent: string
  /** Where the user signed in from. Null if the release before has written the row. */
  address: string | null
  created_at: string
  last_used_at: string
  /** The longest time between two uses. An organization may demand a new sign-in after less. */
  longest_pause_ms: number
  expires_at: string
  /** When the user gave the password in it. Null: at created_at, when they signed in. */
  password_checked_at: Generated<string | null>
}

/** A code that a CLI exchanges once for a user token. It ends with the session in which it was made. */
export type LoginCodeTable = {
  /** SHA-256 of the code, in hexadecimal. */
  hash: string
  user_id: string
  session_id: string
  /** SHA-256 of the verifier that only the CLI knows, in base64url. */
  code_challenge: string
  redirect_uri: string
  created_at: string
  expires_at: string
  used_at: string | null
  /** The token that was made with it. */
  token_id: string | null
}

/** A link with which a user sets a password once. A newer link replaces an older one. */
export type PasswordLinkTable = {
  /** SHA-256 of the link's secret, in hexadecimal. */
  hash: string
  user_id: string
  created_at: string
  expires_at: string
  /** The site administrator who made it. Null: made at the command line. */
  created_by_id: Generated<string | null>
  /** The token with which they made it, if others have seen that. */
  made_with_id: Generated<string | null>
}

/** A person who has seen a token with which this one was made, and is not its `created_by_id`. */
export type TokenOriginTable = { token_id: string; user_id: string }
