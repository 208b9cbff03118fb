import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { hashToken } from '../access/actor-store.ts'
import { checkNotEnded } from '../access/caller-store.ts'
import { checkRecentPassword } from '../access/recent-password.ts'
import { maxTtlOf, ttlKindOf, type TtlPolicy } from '../access/token-policy.ts'
import type { Config } from '../config.ts'
import { parseTimestamp, timeAfter, timestamp, type Timestamp } from '../core/clock.ts'
import { invalid, type Problem } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { orProblems, readResource, refuse } from '../jsonapi/body.ts'
import { insertOrigins, othersWhoSaw } from './handed-out-store.ts'
import { newTokenText } from './token-text.ts'
import { countTokens, deleteToken, insertToken, type TokenOwner, type TokenRow } from './token-store.ts'

const LIFE_YEARS = 2

const EXPIRED_AT = '/data/attributes/expired-at'
const EXPLAIN_TIME = 'must be a time such as 2030-01-31T12:00:00Z, or null for two years from now'

export const tokenBody = {
  type: 'authentication-tokens',
  // pytfe sends this type.
  otherTypes: ['authentication-token'],
  attributes: {
    description: shortTextSchema,
    'expired-at': Type.Union([Type.String({ maxLength: 40 }), Type.Null()], {
      explain: EXPLAIN_TIME,
    }),
  },
  // A client may send back what it was shown.
  ignored: ['created-at', 'last-used-at', 'token'],
  isLenient: true,
}

/** The fields of a request for a token. Without an expiry the token gets the latest one allowed, at most two years. */
export type TokenRequest = { description: string | null; expiresAt: Timestamp | undefined }

export function parseTokenRequest(bytes: Uint8Array, deps: Pick<Deps, 'clock'>): TokenRequest {
  const { problems, ...request } = readTokenRequest(bytes, deps)
  refuse(problems)
  return request
}

/** The same with its problems, which the route refuses together with its own. */
export function readTokenRequest(
  bytes: Uint8Array,
  { clock }: Pick<Deps, 'clock'>,
): TokenRequest & { problems: Problem[] } {
  const { attributes, problems } = readResource(bytes, tokenBody)
  const given = attributes['expired-at'] ?? null
  const expiresAt = given === null ? undefined : parseTimestamp(given)
  if (given !== null) {
    const refuseExpiry = (detail: string) => problems.push({ detail, pointer: EXPIRED_AT })
    if (expiresAt === undefined) refuseExpiry(`expired-at ${EXPLAIN_TIME}`)
    else if (expiresAt <= timestamp(clock.now())) refuseExpiry('expired-at must be in the future')
  }
  return { description: attributes.description ?? null, expiresAt, problems }
}

/** The latest expiry of a token, and the reason. */
type Limit = { latest: string; reason: string }

/** A problem for each limit that the requested expiry is beyond. */
function beyond(asked: Timestamp | undefined, limits: readonly Limit[]): Problem[] {
  const passed = limits.filter(({ latest }) => asked !== undefined && asked > latest)
  return passed.map(({ latest, reason }) => ({
    detail: `expired-at must not be later than ${latest}: ${reason}`,
    pointer: EXPIRED_AT,
  }))
}

/** The expiry of a new token: the requested one, or the earliest limit. Throws 422 if the request is beyond a limit. */
function expiryOf(asked: Timestamp | undefined, limits: readonly Limit[], now: Date): string {
  refuse(beyond(asked, limits))
  return [asked ?? defaultExpiry(now), ...limits.map(({ latest }) => latest)].toSorted()[0] ?? ''
}

function isBoundBy(maker: Actor | null): maker is Actor {
  // A session ends soon; what it makes is as if made by the user without any token.
  return maker !== null && !maker.isSiteAdmin && !(maker.kind === 'user' && maker.session !== undefined)
}

/** Two years from now, for a token without a requested expiry. */
function defaultExpiry(now: Date): Timestamp {
  const expiry = new Date(now)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + LIFE_YEARS)
  return timestamp(expiry)
}

/** The id that a token's document names as its creator. */
function creatorOf(actor: Actor): string | null {
  return actor.kind === 'user' ? actor.userId : (actor.teamId ?? actor.organizationId)
}

/** Throws 422 if `owner` already has the most tokens allowed. */
export async function checkTokenLimit(
  tx: Transaction,
  owner: TokenOwner,
  { config }: { config: Config },
): Promise<void> {
  if ((await countTokens(tx, owner)) < config.maxTokens) return
  throw invalid(`there may be at most ${config.maxTokens} tokens here (PURSER_MAX_TOKENS)`, '/data')
}

type NewToken = {
  owner: TokenOwner
  /** The user that the token acts as. For a team token, its service account. */
  userId: string | null
  /** The organization of a team token, or the owner of an organization token. Its policy limits the lifetime. */
  organization: ({ id: string } & TtlPolicy) | undefined
  isSingle: boolean
  /** Null for the command line. */
  maker: Actor | null
  /** The id of the token that ends with this one, perhaps the maker's own. */
  replaced?: string | undefined
  /** Replaces the maker's id as creator. */
  createdById?: string
  /** Replaces a generated text. Only the token of the first administrator may be chosen. */
  text?: string
}

/**
 * The limits of a new token: from the organization's policy for its kind, and from its maker. A token expires no later than
 * the token that creates it, of a user, team or organization. Otherwise a token lent for a minute would be worth one for
 * years. Site administrators are exempt, so that someone can renew tokens.
 */
function limitsOf(
  { owner, organization, maker }: Pick<NewToken, 'owner' | 'organization' | 'maker'>,
  now: Date,
): Limit[] {
  const limits: Limit[] = []
  const most = organization && maxTtlOf(organization, ttlKindOf(owner.kind))
  if (most !== undefined) {
    const latest = timeAfter(now, most)
    limits.push({ latest, reason: `the organization lets such tokens live ${most} ms` })
  }
  if (isBoundBy(maker)) {
    limits.push({ latest: maker.tokenExpiresAt, reason: 'that is the end of the token that it is made with' })
  }
  return limits
}

/** The problems of a new token that its request alone does not show. Throws 403 for a session that needs the password. */
export async function problemsOfToken(
  tx: Transaction,
  deps: Pick<Deps, 'clock' | 'config'>,
  made: Pick<NewToken, 'owner' | 'organization' | 'maker'>,
  { expiresAt }: TokenRequest,
  isReplacing: boolean,
): Promise<Problem[]> {
  const now = deps.clock.now()
  checkRecentPassword(made.maker, now)
  const problems = beyond(expiresAt, limitsOf(made, now))
  if (!isReplacing) await orProblems(problems, checkTokenLimit(tx, made.owner, deps))
  return problems
}

/**
 * Creates a token. Only the answer to its creation contains its text. Throws 401 if the token of the maker has ended. The rows that
 * it waits for are locked by then.
 */
export async function createToken(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'>,
  { owner, userId, organization, isSingle, maker, replaced, createdById, text: given }: NewToken,
  { description, expiresAt }: TokenRequest,
): Promise<{ token: TokenRow; text: string }> {
  const text = given ?? newTokenText(owner.kind === 'audit-trails' ? 'organization' : owner.kind)
  const now = deps.clock.now()
  checkRecentPassword(maker, now)
  if (maker !== null) await checkNotEnded(tx, maker)
  const others = maker === null ? [] : await othersWhoSaw(tx, maker)
  if (replaced !== undefined) await deleteToken(tx, replaced)
  const token = await insertToken(tx, {
    id: deps.newId('token'),
    hash: hashToken(text),
    kind: owner.kind,
    user_id: userId,
    team_id: owner.kind === 'team' ? owner.teamId : null,
    organization_id: organization?.id ?? null,
    is_single: isSingle ? 1 : 0,
    description,
    created_by_id: createdById ?? (maker === null ? null : creatorOf(maker)),
    created_at: timestamp(now),
    age_since: owner.kind === 'user' && maker?.kind === 'user' && isBoundBy(maker) ? maker.tokenMadeAt : null,
    expires_at: expiryOf(expiresAt, limitsOf({ owner, organization, maker }, now), now),
    last_used_at: null,
  })
  await insertOrigins(tx, token, others)
  return { token, text }
}

/** Creates a token for a user outside a request, as if by the user, without checking the limit. */
export function createUserToken(
  tx: Transaction,
  {
    userId,
    description,
    now,
    text,
  }: { userId: string; description: string | null; now: Date; text?: string },
): Promise<{ token: TokenRow; text: string }> {
  const owner = { kind: 'user', userId } as const
  return createToken(
    tx,
    { newId, clock: { now: () => now } },
    { owner, userId, organization: undefined, isSingle: false, maker: null, createdById: userId, text },
    { description, expiresAt: undefined },
  )
}
