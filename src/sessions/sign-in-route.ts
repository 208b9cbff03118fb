import { Type } from 'typebox'
import { hashToken } from '../access/actor-store.ts'
import { insertAuditEvents, type AuditActor, type AuditEvent } from '../audit/audit-store.ts'
import { timeAfter, timestamp } from '../core/clock.ts'
import { AppError, invalid } from '../core/errors.ts'
import { existing } from '../core/existing.ts'
import { newSecret } from '../core/ids.ts'
import type { Transaction } from '../database/database.ts'
import { checkContentType, withOpenBody } from '../http/body.ts'
import { created, type Answer, type Call } from '../http/call.ts'
import type { RunnerDeps } from '../http/deps.ts'
import type { RawRoute } from '../http/raw-route.ts'
import { parseResource, refuse } from '../jsonapi/body.ts'
import { document } from '../jsonapi/document.ts'
import { createAccount, takenProblems } from '../users/accounts.ts'
import { isOutdated, type Asker } from '../users/password.ts'
import { endedDetails, endTokensOf } from '../login/ended-tokens.ts'
import { deletePasswordLink, findPasswordLink } from '../users/password-link-store.ts'
import {
  findUserByEmail,
  findUserByUsername,
  lockUser,
  updateUser,
  type UserRow,
} from '../users/user-store.ts'
import { keyOf, passwordProblems, usernameSchema } from '../users/users.ts'
import { clientAddressOf, strangerOf } from './client-address.ts'
import { checkSecure, sessionCookie, sessionSecretOf } from './session-cookie.ts'
import { sessionResource } from './session-document.ts'
import { deleteSessionsOf, insertSession, makeRoomForSession, type SessionRow } from './session-store.ts'

const MAX_USER_AGENT = 200
const MINUTE_MS = 60_000
const KEEP_TOKENS = '/data/attributes/keep-tokens'
const USERNAME = '/data/attributes/username'
const WRONG = 'the user name, email or password is wrong'
export const WRONG_LINK = 'the link was used, replaced or has expired; ask for another one'

export const text = Type.String({
  minLength: 1,
  maxLength: 512,
  pattern: '^[^\\u0000]*$',
  explain: 'must be a text of 1 to 512 characters, without NUL',
})

const signInBody = {
  type: 'sessions',
  attributes: {
    login: text,
    link: text,
    username: usernameSchema,
    password: text,
    'keep-tokens': Type.Boolean(),
  },
  required: ['password'] as const,
}

/**
 * Begins a session: with user name or email and password, or with a password link and the password to set. Somebody who was
 * invited and has no account yet gives a user name too.
 */
export const signInRoute: RawRoute = {
  method: 'POST',
  path: '/api/v2/sessions',
  summary: 'Sign in',
  statuses: [201],
  accepts: signInBody,
  answers: 'sessions',
  open: 'people sign in with it',
  answer: signIn,
}

type Given = {
  login?: string
  link?: string
  username?: string
  password: string
  'keep-tokens'?: boolean
}

/** Someone who may sign in. `write` runs in the transaction that begins the session. */
type Known = {
  userId: string
  /** The hash of the password when the session has begun. */
  passwordHash: string
  /** Returns the user name. */
  write: (tx: Transaction, user: UserRow) => Promise<{ username: string; events: AuditEvent[] }>
}

async function signIn(call: Call, deps: RunnerDeps): Promise<Answer> {
  checkSecure(call.origin)
  const given = await readBody(call, deps)
  const { login, link } = given
  const answer = await (link === undefined
    ? signInByPassword({ ...given, account: keyOf(login ?? '') }, call, deps)
    : signInByLink({ ...given, link }, call, deps))
  if (answer === undefined) throw new AppError('unauthorized', link === undefined ? WRONG : WRONG_LINK)
  return answer
}

/** The statements are the same whether or not the user exists. A device is known before its password is checked. */
async function signInByPassword(
  { account, password }: { account: string; password: string },
  call: Call,
  deps: RunnerDeps,
): Promise<Answer | undefined> {
  const { devices, guesses, clock, config } = deps
  const now = clock.now()
  const reader = strangerOf(call, config)
  // A client that names no device waits for its pauses before anything is read.
  const early = devices.isGiven(call) ? { user: await findUserByLogin(account, reader, deps) } : undefined
  const device = early && devices.deviceOf(call, early.user, now)
  const asker = { account, address: clientAddressOf(call, config), device }
  return guesses.attempt({ ...asker, now, from: call.address }, async () => {
    const { user } = early ?? { user: await findUserByLogin(account, reader, deps) }
    const known = await byPassword(password, user, asker, deps)
    const answer = known && (await begin(known, call, deps))
    if (answer === undefined) deps.wrongPasswords.note(call, account, user)
    return answer
  })
}

/** The secret of a link is too long to be guessed. */
async function signInByLink(
  given: Given & { link: string },
  call: Call,
  deps: RunnerDeps,
): Promise<Answer | undefined> {
  const known = await byLink(given, call, deps)
  return known && begin(known, call, deps)
}

function readBody(call: Call, deps: RunnerDeps): Promise<Given> {
  return withOpenBody(call, deps, (bytes) => {
    // A form of another site can send neither of the two content types.
    checkContentType({ ...call.headers, 'content-type': call.headers['content-type'] ?? '' })
    const { attributes } = parseResource(bytes, signInBody)
    const { login, link, password } = attributes
    if ((login === undefined) === (link === undefined)) {
      refuse([{ detail: 'give either login or link', pointer: '/data/attributes' }])
    }
    if (link !== undefined) refuse(passwordProblems(password))
    else {
      const username = { detail: 'username is allowed only together with link', pointer: USERNAME }
      const keeping = { detail: 'keep-tokens is allowed only together with link', pointer: KEEP_TOKENS }
      refuse([
        ...(attributes.username === undefined ? [] : [username]),
        ...(attributes['keep-tokens'] === undefined ? [] : [keeping]),
      ])
    }
    return attributes
  })
}

function findUserByLogin(
  account: string,
  reader: { account: string },
  { database }: RunnerDeps,
): Promise<UserRow | undefined> {
  return database.read(async (tx) => {
    const byName = await findUserByUsername(tx, account)
    // Also if there is one: the time must not tell whether somebody has this name.
    const byEmail = await findUserByEmail(tx, account)
    return byName ?? byEmail
  }, reader)
}

/** It takes as long for a user who does not exist. */
async function byPassword(
  password: string,
  user: UserRow | undefined,
  asker: Asker,
  { passwords }: RunnerDeps,
): Promise<Known | undefined> {
  const stored = user?.password_hash ?? null
  if (!(await passwords.matches(password, stored, asker)) || user === undefined || stored === null)
    return undefined
  const renewed = isOutdated(stored) ? await passwords.hash(password, asker) : undefined
  return {
    userId: user.id,
    passwordHash: renewed ?? stored,
    write: async (tx, { password_hash: present, username }) => {
      if (present !== stored) throw new AppError('unauthorized', WRONG)
      if (renewed !== undefined) await updateUser(tx, user.id, { password_hash: renewed })
      return { username: existing(username), events: [] }
    },
  }
}

async function byLink(
  { link: secret, username, password, 'keep-tokens': keepsTokens = false }: Given & { link: string },
  call: Call,
  deps: RunnerDeps,
): Promise<Known | undefined> {
  const address = clientAddressOf(call, deps.config)
  const hash = hashToken(secret)
  const link = await deps.database.read(
    async (tx) => {
      const found = await findPasswordLink(tx, hash, deps.clock.now())
      // Before the hashing, which costs much more.
      if (found !== undefined && username !== undefined) refuse(await takenProblems(tx, { username }))
      return found
    },
    strangerOf(call, deps.config),
  )
  if (link === undefined) return undefined
  // Who has a link is no stranger.
  const asker = { account: link.user_id, address, device: `link ${hash}` }
  const { hash: passwordHash, problems } = await deps.guesses.ration(
    { ...asker, now: deps.clock.now() },
    () => deps.passwords.forNew(password, asker),
  )
  refuse(problems)
  return {
    userId: link.user_id,
    passwordHash,
    write: async (tx, user) => {
      // Another request may have used the link meanwhile.
      if (!(await deletePasswordLink(tx, hash))) throw new AppError('unauthorized', WRONG_LINK)
      const account = user.username === null ? await newAccount(tx, deps, user, username) : undefined
      if (account === undefined && username !== undefined) {
        refuse([{ detail: 'the account has a user name already', pointer: USERNAME }])
      }
      await updateUser(tx, user.id, { password_hash: passwordHash })
      await deleteSessionsOf(tx, user.id)
      // Somebody else may have made them with a stolen session. The first password replaces no session.
      const isReset = user.password_hash !== null && !keepsTokens
      const ended = isReset ? await endTokensOf(tx, user.id) : undefined
      const name = existing(account?.user.username ?? user.username)
      const event = {
        action: 'user.set-password',
        resourceType: 'users',
        resourceId: user.id,
        details: { username: name, by: 'link', ...endedDetails(ended) },
      }
      return { username: name, events: account === undefined ? [event] : [account.event, event] }
    },
  }
}

/** Completes the account of somebody who was invited. Throws 422 without a user name, or if it is taken. */
async function newAccount(tx: Transaction, deps: RunnerDeps, user: UserRow, username: string | undefined) {
  if (username === undefined) {
    throw invalid('choose a user name: there is no account yet', USERNAME)
  }
  const email = existing(user.email)
  return createAccount(tx, deps, { username, email, passwordHash: null, isAdmin: false })
}

/** Undefined if the user may not sign in. */
async function begin(
  { userId, passwordHash, write }: Known,
  call: Call,
  { database, clock, config, devices, newId, auditKey }: RunnerDeps,
): Promise<Answer | undefined> {
  const secret = newSecret()
  const before = sessionSecretOf(call)
  const session = await database.write(async (tx) => {
    const user = await lockUser(tx, userId)
    if (user === undefined || user.is_suspended === 1) return undefined
    const now = clock.now()
    const { username, events } = await write(tx, user)
    call.account = userId
    const row: SessionRow = {
      id: newId('session'),
      hash: hashToken(secret),
      user_id: userId,
      user_agent: (call.headers['user-agent'] ?? '').slice(0, MAX_USER_AGENT),
      address: call.address,
      created_at: timestamp(now),
      last_used_at: timestamp(now),
      longest_pause_ms: 0,
      expires_at: timeAfter(now, config.sessionMinutes * MINUTE_MS),
      password_checked_at: timestamp(now),
    }
    const mine = { userId, hash: hashToken(before ?? ''), now: row.created_at, most: config.maxSessions }
    await makeRoomForSession(tx, mine)
    await insertSession(tx, row)
    const actor: AuditActor = { kind: 'user', userId, name: username, tokenId: row.id }
    const { requestId, address } = call
    const context = { at: row.created_at, requestId, address, actor, key: auditKey }
    insertAuditEvents(tx, context, [
      ...events,
      { action: 'session.begin', resourceType: 'sessions', resourceId: row.id, details: { user: userId } },
    ])
    return row
  })
  if (session === undefined) return undefined
  const answer = created(document(sessionResource.fragment({ session, sessionId: session.id })))
  const cookie = sessionCookie(call.origin, secret, config.sessionMinutes * 60)
  const device = devices.of(call, { id: userId, password_hash: passwordHash }, clock.now())
  return { ...answer, cookies: [cookie, device] }
}
