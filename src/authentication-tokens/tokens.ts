import { Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { hashToken } from '../access/actor-store.ts'
import type { Config } from '../config.ts'
import { timestamp, type Timestamp } from '../core/clock.ts'
import { invalid } from '../core/errors.ts'
import type { newId } from '../core/ids.ts'
import { shortTextSchema } from '../core/names.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { parseResource } from '../jsonapi/body.ts'
import { newTokenText } from './token-text.ts'
import { countTokens, findToken, insertToken, type TokenOwner, type TokenRow } from './token-store.ts'

const LIFE_YEARS = 2
const TIME = /^\d{4}-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

const EXPLAIN_TIME = 'must be a time such as 2030-01-31T12:00:00Z, or null for two years from now'

export const tokenBody = {
  type: 'authentication-tokens',
  attributes: {
    description: shortTextSchema,
    'expired-at': Type.Union([Type.String({ maxLength: 40 }), Type.Null()], {
      explain: EXPLAIN_TIME,
    }),
  },
  isLenient: true,
}

/** What a request asks of a new token. */
export type TokenRequest = { description: string | null; expiresAt: Timestamp }

export function parseTokenRequest(bytes: Uint8Array, { clock }: Pick<Deps, 'clock'>): TokenRequest {
  const { attributes } = parseResource(bytes, tokenBody)
  const now = clock.now()
  const given = attributes['expired-at'] ?? null
  const expiresAt = given === null ? defaultExpiry(now) : parseTime(given)
  if (expiresAt === undefined) {
    throw invalid(`expired-at ${EXPLAIN_TIME}`, '/data/attributes/expired-at')
  }
  if (expiresAt <= timestamp(now)) {
    throw invalid('expired-at must be in the future', '/data/attributes/expired-at')
  }
  return { description: attributes.description ?? null, expiresAt }
}

/** A time with `Z` or an offset, as it is stored; undefined for what is none. */
function parseTime(text: string): Timestamp | undefined {
  const match = TIME.exec(text)
  const time = match === null ? Number.NaN : Date.parse(text)
  if (match === null || Number.isNaN(time)) return undefined
  // The engine takes February 30 for March 2.
  const daysOfMonth = new Date(Date.UTC(Number(text.slice(0, 4)), Number(match[1]), 0)).getUTCDate()
  const stored = timestamp(new Date(time))
  return Number(match[2]) > daysOfMonth || stored.length !== '2030-01-31T12:00:00.000Z'.length
    ? undefined
    : stored
}

/** Two years from now: for a token that was made without an expiry. */
export function defaultExpiry(now: Date): Timestamp {
  const expiry = new Date(now)
  expiry.setUTCFullYear(expiry.getUTCFullYear() + LIFE_YEARS)
  return timestamp(expiry)
}

/** Whom a token's document names as its maker. */
export function creatorOf(actor: Actor): string | null {
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
  organizationId: string | null
  isSingle: boolean
  createdById: string | null
  /** Instead of a new one: that of the first administrator may be given. */
  text?: string
}

/** Makes a token; its text is in no other answer. */
export async function createToken(
  tx: Transaction,
  deps: Pick<Deps, 'newId' | 'clock'>,
  { owner, userId, organizationId, isSingle, createdById, text: given }: NewToken,
  { description, expiresAt }: TokenRequest,
): Promise<{ token: TokenRow; text: string }> {
  const text = given ?? newTokenText(owner.kind === 'audit-trails' ? 'organization' : owner.kind)
  const id = deps.newId('token')
  await insertToken(tx, {
    id,
    hash: hashToken(text),
    kind: owner.kind,
    user_id: userId,
    team_id: owner.kind === 'team' ? owner.teamId : null,
    organization_id: organizationId,
    is_single: isSingle ? 1 : 0,
    description,
    created_by_id: createdById,
    created_at: timestamp(deps.clock.now()),
    expires_at: expiresAt,
    last_used_at: null,
  })
  return { token: (await findToken(tx, id)) as TokenRow, text }
}

/** Makes a user's token outside a request, without asking whether he may have one more. */
export async function createUserToken(
  tx: Transaction,
  makeId: typeof newId,
  given: { userId: string; description: string | null; createdById: string | null; now: Date; text?: string },
): Promise<{ id: string; text: string }> {
  const { userId, description, createdById, now } = given
  const { token, text } = await createToken(
    tx,
    { newId: makeId, clock: { now: () => now } },
    {
      owner: { kind: 'user', userId },
      userId,
      organizationId: null,
      isSingle: false,
      createdById,
      text: given.text,
    },
    { description, expiresAt: defaultExpiry(now) },
  )
  return { id: token.id, text }
}
