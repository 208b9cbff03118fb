type Token = {
  readonly tokenId: string
  /**
   * When the token was created. If a user token created it, perhaps through several others: when the first of them was
   * created. Organizations limit the age of a token by this time.
   */
  readonly tokenMadeAt: string
  readonly tokenExpiresAt: string
  /** The name in the audit trail and in lock messages: user name, team name or organization name. */
  readonly name: string
  /** True only for a user. */
  readonly isSiteAdmin: boolean
}

export type UserActor = Token & {
  readonly kind: 'user'
  /** Set if the user has signed in, and the token is their session. */
  readonly session?: { readonly longestPauseMs: number; readonly passwordCheckedAt: string }
  readonly userId: string
  readonly teamId: null
  readonly organizationId: null
  readonly auditTrailOf: null
}

/** A team token acts as the team's service account. */
type TeamActor = Token & {
  readonly kind: 'team'
  readonly userId: string
  readonly teamId: string
  readonly organizationId: string
  readonly auditTrailOf: null
}

type OrganizationActor = Token & {
  readonly kind: 'organization'
  readonly userId: null
  readonly teamId: null
  readonly organizationId: string
  readonly auditTrailOf: null
}

/** An audit-trails token has no standing in the organization: it may read its audit trail and do nothing else. */
type AuditTrailsActor = Token & {
  readonly kind: 'organization'
  readonly userId: null
  readonly teamId: null
  readonly organizationId: null
  readonly auditTrailOf: string
}

/** The caller: the identity that the token of the request acts as. */
export type Actor = UserActor | TeamActor | OrganizationActor | AuditTrailsActor

/** Who shares limits: a user, or all tokens of an organization and its teams, because owners can create many. */
export function accountOf({ kind, userId, organizationId, auditTrailOf }: Actor): string {
  return kind === 'user' ? `user ${userId}` : `organization ${organizationId ?? auditTrailOf}`
}

/** Names the identity, whichever of its tokens is used. Audit-trails tokens have one in common, because they have no rights in any organization. */
export function identityOf({ kind, userId, organizationId }: Actor): string {
  return `${kind} ${userId ?? organizationId}`
}

/** The id of the user, team or organization, for the log. */
export function accountIdOf({ userId, teamId, organizationId, auditTrailOf }: Actor): string | undefined {
  return teamId ?? userId ?? organizationId ?? auditTrailOf ?? undefined
}
