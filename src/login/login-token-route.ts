import { hashToken } from '../access/actor-store.ts'
import { insertAuditEvents, type AuditActor, type AuditEvent } from '../audit/audit-store.ts'
import { deleteUserToken } from '../authentication-tokens/token-deletion.ts'
import { findToken } from '../authentication-tokens/token-store.ts'
import { issueUserToken } from '../authentication-tokens/user-tokens.ts'
import { timestamp } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { NO_ID } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { strangerOf } from '../sessions/client-address.ts'
import { withOpenBody } from '../http/body.ts'
import { json, type Call } from '../http/call.ts'
import type { RunnerDeps } from '../http/deps.ts'
import type { RawRoute } from '../http/raw-route.ts'
import { findUser, lockUser, type UserRow } from '../users/user-store.ts'
import { claimLoginCode, findLoginCode, setTokenOfLoginCode, type LoginCodeRow } from './login-code-store.ts'
import { challengeOf, loginService } from './login-codes.ts'

const MAX_USER_AGENT = 200
const UNKNOWN = 'the code is unknown or was used before'
const FORM = 'application/x-www-form-urlencoded'

/** An error in the form of OAuth 2.0, which the CLIs show. */
class Refused extends Error {
  readonly code: 'invalid_request' | 'invalid_grant' | 'invalid_client' | 'unsupported_grant_type'

  constructor(code: Refused['code'], description: string) {
    super(description)
    this.code = code
  }
}

/**
 * Exchanges a login code for a user token (RFC 6749, section 4.1.3, with the proof of RFC 7636). The client is public,
 * so only the code and its verifier prove anything.
 */
export const loginTokenRoute: RawRoute = {
  method: 'POST',
  path: loginService.token,
  summary: 'Exchange a login code for a token',
  open: 'the code and its verifier are the right',
  answer: async (call, deps) => {
    try {
      const given = await readForm(call, deps)
      const text = await exchange(given, call, deps)
      return json({ access_token: text, token_type: 'bearer' })
    } catch (error) {
      const refused = error instanceof AppError ? invalidGrant(error) : error
      if (!(refused instanceof Refused)) throw error
      return json({ error: refused.code, error_description: refused.message }, 400)
    }
  },
}

/** Undefined if the error has nothing to do with the code. */
function invalidGrant({ code, problems }: AppError): Refused | undefined {
  // The user cannot have a token, or has too many.
  if (code === 'invalid') return new Refused('invalid_grant', problems.map(({ detail }) => detail).join('; '))
  // Meanwhile the user was deleted, or another request with the code has ended its token.
  return code === 'not-found' ? new Refused('invalid_grant', UNKNOWN) : undefined
}

type Form = { code: string; verifier: string; redirectUri: string }

async function readForm(call: Call, deps: RunnerDeps): Promise<Form> {
  if (call.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== FORM) {
    throw new Refused('invalid_request', `the body must be ${FORM}`)
  }
  return withOpenBody(call, deps, (bytes) => {
    const form = new URLSearchParams(bytes.toString())
    const one = (name: string): string => {
      const [value, ...others] = form.getAll(name)
      if (value === undefined || value === '' || others.length > 0) {
        throw new Refused('invalid_request', `${name} must be given once`)
      }
      return value
    }
    if (one('grant_type') !== 'authorization_code') {
      throw new Refused('unsupported_grant_type', 'grant_type must be authorization_code')
    }
    if (one('client_id') !== loginService.client) {
      throw new Refused('invalid_client', `client_id must be ${loginService.client}`)
    }
    return { code: one('code'), verifier: one('code_verifier'), redirectUri: one('redirect_uri') }
  })
}

/** The text of the new token. */
async function exchange(given: Form, call: Call, deps: RunnerDeps): Promise<string> {
  const { database, clock, auditKey } = deps
  const hash = hashToken(given.code)
  // A stranger who guesses must not take the turn of a writer.
  const known = await database.read((tx) => findLoginCode(tx, hash), strangerOf(call, deps.config))
  if (known === undefined) throw new Refused('invalid_grant', UNKNOWN)
  const outcome = await database.write(async (tx) => {
    const now = clock.now()
    const at = timestamp(now)
    const write = (row: LoginCodeRow, user: UserRow, event: AuditEvent) => {
      const actor: AuditActor = {
        kind: 'user',
        userId: user.id,
        name: user.username ?? '',
        tokenId: row.session_id,
      }
      const { requestId, address } = call
      insertAuditEvents(tx, { at, requestId, address, actor, key: auditKey }, [event])
    }
    const row = await claimLoginCode(tx, hash, at)
    if (row === undefined) {
      await endReused(tx, hash, { given, at }, write)
      return new Refused('invalid_grant', UNKNOWN)
    }
    // What is thrown from here on undoes the claim, so that a wrong request does not use the code up.
    const wrong = whatIsWrong(row, given, at)
    if (wrong !== undefined) throw new Refused('invalid_grant', wrong)
    // As committed: a suspension that runs at the same time is seen.
    const user = await lockUser(tx, row.user_id)
    if (user === undefined || user.is_suspended === 1) {
      throw new Refused('invalid_grant', 'the user may not have a token')
    }
    call.account = user.id
    const description = `login ${call.headers['user-agent'] ?? ''}`.trim().slice(0, MAX_USER_AGENT)
    const request = { description, expiresAt: undefined }
    const { token, text, event } = await issueUserToken(tx, deps, { userId: user.id, maker: null }, request)
    await setTokenOfLoginCode(tx, hash, token.id)
    write(row, user, event)
    return text
  })
  if (outcome instanceof Refused) throw outcome
  return outcome
}

/** Why a request with a known code gets no token. Undefined if it gets one. */
function whatIsWrong(row: LoginCodeRow, { redirectUri, verifier }: Form, at: string): string | undefined {
  if (row.expires_at <= at) return 'the code has expired'
  if (row.redirect_uri !== redirectUri) return 'redirect_uri is not the one that the code was made for'
  return row.code_challenge === challengeOf(verifier) ? undefined : 'code_verifier does not fit the code'
}

/**
 * Somebody else has a code that comes twice as a whole, with the verifier and in time: the token that it gave ends. The code
 * alone proves nothing: it is in the history of the browser, and whoever finds it there must not end a token.
 */
async function endReused(
  tx: Transaction,
  hash: string,
  { given, at }: { readonly given: Form; readonly at: string },
  write: (row: LoginCodeRow, user: UserRow, event: AuditEvent) => void,
): Promise<void> {
  const row = await findLoginCode(tx, hash)
  if (row === undefined || whatIsWrong(row, given, at) !== undefined) return
  const token = await findToken(tx, row.token_id ?? NO_ID)
  const user = await findUser(tx, row.user_id)
  if (token === undefined || user === undefined) return
  write(row, user, await deleteUserToken(tx, token))
}
