import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { hashToken } from '../access/actor-store.ts'
import { maxTtlOf, ttlKindOf, type TtlPolicy } from '../access/token-policy.ts'
import type { Config } from '../config.ts'
import { parseTimestamp, timestamp, type Timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import type { newId } from '../core/ids.ts'
import { shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { readResource, refuse } from '../jsonapi/body.ts'
import { newTokenText } from './token-text.ts'
import { countTokens, findToken, insertToken, type TokenOwner, type TokenRow } from './token-store.ts'

const LIFE_YEARS = 2

const EXPIRED_AT = '/data/attributes/expired-at'
const EXPLAIN_TIME = 'must be a time such as 2030-01-31T12:00:00Z, or null for two years from now'

export const tokenBody = {
  type: 'authentication-tokens',
  // pytfe
  otherTypes: ['authentication-token'],
  attributes: {
    description: shortTextSchema,
    'expired-at': Type.Union([Type.String({ maxLength: 40 }), Type.Null()], {
      explain: EXPLAIN_TIME,
    }),
  },
  isLenient: true,
}

/** What a request asks of a new token; without an expiry it gets the longest that it may have, up to two years. */
export type TokenRequest = { description: string | null; expiresAt: Timestamp | undefined }

export function parseTokenRequest(bytes: Uint8Array, { clock }: Pick<Deps, 'clock'>): TokenRequest {
  const { attributes, problems } = readResource(bytes, tokenBody)
  const given = attributes['expired-at'] ?? null
  const expiresAt = given === null ? undefined : parseTimestamp(given)
  if (given !== null) {
    const refuseExpiry = (detail: string) => problems.push({ detail, pointer: EXPIRED_AT })
    if (expiresAt === undefined) refuseExpiry(`expired-at ${EXPLAIN_TIME}`)
    else if (expiresAt <= timestamp(clock.now())) refuseExpiry('expired-at must be in the future')
  }
  refuse(problems)
  return { description: attributes.description ?? null, expiresAt }
}

/** The latest end of a token, and why. */
type Limit = { latest: string; reason: string }

/** When a token that is made now ends: as asked for; 422 beyond a limit. Without a request, at the earliest limit. */
function expiryOf(asked: Timestamp | undefined, limits: readonly Limit[], now: Date): string {
  const passed = limits.filter(({ latest }) => asked !== undefined && asked > latest)
  refuse(
    passed.map(({ latest, reason }) => ({
      detail: `expired-at must not be later than ${latest}: ${reason}`,
      pointer: EXPIRED_AT,
    })),
  )
  return [asked ?? defaultExpiry(now), ...limits.map(({ latest }) => latest)].sort()[0] as string
}

/** How long an organization lets tokens of this kind live. */
function limitOfPolicy(kind: TokenOwner['kind'], policy: TtlPolicy | undefined, now: Date): Limit[] {
  const most = policy === undefined ? undefined : maxTtlOf(policy, ttlKindOf(kind))
  if (most === undefined) return []
  const latest = timestamp(new Date(now.getTime() + most))
  return [{ latest, reason: `the organization lets such tokens live ${most} ms` }]
}

/**
 * A token ends no later than the one that it is made with, of a user, a team or an organization: otherwise a token that was
 * lent for a minute would be worth one for years. Site administrators are free of it, so that somebody can renew tokens.
 */
function limitOfMaker(maker: Actor | null): Limit[] {
  if (!isBoundBy(maker)) return []
  return [{ latest: maker.tokenExpiresAt, reason: 'that is the end of the token that it is made with' }]
}

function isBoundBy(maker: Actor | null): maker is Actor {
  return maker !== null && !maker.isSiteAdmin
}

/** Two years from now: for a token that was made without an expiry. */
function defaultExpiry(now: Date): Timestamp {
  const expiry = new Date(now)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + LIFE_YEARS)
  return timestamp(expiry)
}

/** Whom a token's document names as its maker. */
function creatorOf(actor: Actor): string | null {
  return actor.kind === 'user' ? actor.userId : (actor.teamId ?? actor.organizationId)
}

/** Refuses one more token than `owner` may have. */
export async function checkTokenLimit(
  tx: Transaction,
  owner: TokenOwner,
  { config }: { config: Config },
): Promise<void> {
  if ((await countTokens(tx, owner)) < config.maxTokens) return
  throw invalid(`there may be at most ${config.maxTokens} tokens here (PURSER_MAX_TOKENS)`, '/data')
}

export type NewToken = {
  owner: TokenOwner
  /** Whom it acts as: for a team's token its service account. */
  userId: string | null
  /** A team's, or the one that owns it: it says how long the token may live. */
  organization: ({ id: string } & TtlPolicy) | undefined
  isSingle: boolean
  /** Null: the command line. */
  maker: Actor | null
  /** Instead of the maker's id. */
  createdById?: string
  /** Instead of a new one: that of the first administrator may be given. */
  text?: string
}

/** Makes a token; its text is in no other answer. */
export async function createToken(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'>,
  { owner, userId, organization, isSingle, maker, createdById, text: given }: NewToken,
  { description, expiresAt }: TokenRequest,
): Promise<{ token: TokenRow; text: string }> {
  const text = given ?? newTokenText(owner.kind === 'audit-trails' ? 'organization' : owner.kind)
  const id = deps.newId('token')
  const now = deps.clock.now()
  await insertToken(tx, {
    id,
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
    expires_at: expiryOf(
      expiresAt,
      [...limitOfPolicy(owner.kind, organization, now), ...limitOfMaker(maker)],
      now,
    ),
    last_used_at: null,
  })
  return { token: (await findToken(tx, id)) as TokenRow, text }
}

/** Makes a user's token outside a request, without asking whether he may have one more. */
export async function createUserToken(
  tx: Transaction,
  makeId: typeof newId,
  given: { userId: string; description: string | null; createdById: string; now: Date; text?: string },
): Promise<{ id: string; text: string }> {
  const { userId, description, createdById, now } = given
  const { token, text } = await createToken(
    tx,
    { newId: makeId, clock: { now: () => now } },
    {
      owner: { kind: 'user', userId },
      userId,
      organization: undefined,
      isSingle: false,
      maker: null,
      createdById,
      text: given.text,
    },
    { description, expiresAt: undefined },
  )
  return { id: token.id, text }
}
