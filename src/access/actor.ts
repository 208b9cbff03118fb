/** The caller: the identity that the token of the request acts as. */
export type Actor = {
  readonly kind: 'user' | 'team' | 'organization'
  readonly tokenId: string
  /**
   * When the token was created. If a user token created it, perhaps through several others: when the first of them was
   * created. Organizations limit the age of a token by this time.
   */
  readonly tokenMadeAt: string
  readonly tokenExpiresAt: string
  /** The user. For a team token: the service account of the team. Null for an organization token. */
  readonly userId: string | null
  /** The team of a team token. `organizationId` is set for a team token and for an organization token. */
  readonly teamId: string | null
  readonly organizationId: string | null
  readonly isSiteAdmin: boolean
  /** The organization whose audit trail an audit-trails token may read. Such a token may do nothing else. */
  readonly auditTrailOf: string | null
  /** The name in the audit trail and in lock messages: user name, team name or organization name. */
  readonly name: string
}
