import { expect } from 'vitest'
import { systemClock, timestamp } from '../../src/core/clock.ts'
import { newId } from '../../src/core/ids.ts'
import { insertSession } from '../../src/sessions/session-store.ts'
import type { Response } from './client.ts'
import { Client } from './client.ts'
import type { TestServer } from './server.ts'
import { body } from './world.ts'

/** A browser that keeps its cookies and sends what a page of the server sends. */
export class Browser {
  readonly #client: Client
  /** The session. */
  cookie: string | undefined
  /** The accounts that the browser is known to. */
  devices: string | undefined
  sessionId = ''

  constructor(address: string) {
    this.#client = new Client(address)
  }

  /** Sends as a page of the server does; `headers` replaces that. */
  async request(
    method: string,
    path: string,
    sent?: unknown,
    headers: Record<string, string> = { 'x-purser-page': '1', 'sec-fetch-site': 'same-origin' },
  ): Promise<Response> {
    const cookies = [this.cookie, this.devices].filter((each) => each !== undefined)
    const cookie = cookies.length === 0 ? undefined : { cookie: cookies.join('; ') }
    const answer = await this.#client.request(method, path, sent, { ...headers, ...cookie })
    const given = answer.headers.getSetCookie().map((each) => each.split(';', 1).join(''))
    this.devices = given.find((each) => /^(__Host-)?purser-devices=/.test(each)) ?? this.devices
    return answer
  }

  get(path: string): Promise<Response> {
    return this.request('GET', path)
  }

  /** Signs in, and keeps the cookie if that is permitted. */
  async signIn(attributes: {
    login?: string
    link?: string
    username?: string
    password: string
    'keep-tokens'?: boolean
  }): Promise<Response> {
    const answer = await this.request('POST', '/sessions', body('sessions', attributes))
    if (answer.status === 201) {
      const [session] = answer.headers.getSetCookie()
      this.cookie = session?.split(';', 1)[0]
      this.sessionId = answer.json.data.id
    }
    return answer
  }
}

/** The secret of a new link with which the user sets a password. */
export async function passwordLink(administrator: Client, userId: string): Promise<string> {
  const answer = await administrator.post(`/admin/users/${userId}/password-links`)
  expect(answer.status, answer.text).toBe(201)
  return answer.json.data.attributes.link
}

/** Sets the user's password and signs in. Returns the id of the session. */
export async function sessionOf(
  { admin, address }: Pick<TestServer, 'admin' | 'address'>,
  userId: string,
  password = 'correct horse',
): Promise<string> {
  const browser = new Browser(address)
  await browser.signIn({ link: await passwordLink(admin, userId), password })
  return browser.sessionId
}

/** Gives a user this many sessions more, as if they had signed in just now. A real sign-in hashes the password, which takes long. */
export async function addSessions({ app }: TestServer, userId: string, count: number): Promise<void> {
  const at = timestamp(systemClock.now())
  await app.deps.database.write(async (tx) => {
    for (let number = 0; number < count; number += 1) {
      const id = newId('session')
      await insertSession(tx, {
        id,
        hash: id,
        user_id: userId,
        address: null,
        user_agent: 'another browser',
        created_at: at,
        last_used_at: at,
        longest_pause_ms: 0,
        expires_at: '2999-01-01T00:00:00.000Z',
      })
    }
  })
}
