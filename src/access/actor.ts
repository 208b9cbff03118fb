/** Who calls: whom the token that came with the request acts as. */
export type Actor = {
  readonly kind: 'user' | 'team' | 'organization'
  readonly tokenId: string
  /**
   * When the token was made, or the first of the user tokens by which it was made, one by the other: organizations bound
   * how old that may become.
   */
  readonly tokenMadeAt: string
  readonly tokenExpiresAt: string
  /** The user, for a team's token its service account; an organization's token acts as no user. */
  readonly userId: string | null
  /** The team that the token belongs to, and a team's or an organization's token's organization. */
  readonly teamId: string | null
  readonly organizationId: string | null
  readonly isSiteAdmin: boolean
  /** The organization whose audit trail an audit-trails token reads; it may do nothing else. */
  readonly auditTrailOf: string | null
  /** As it stands in the audit trail and in lock messages: user name, or the team's or organization's name. */
  readonly name: string
}
