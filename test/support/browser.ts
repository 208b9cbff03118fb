import { expect } from 'vitest'
import type { Response } from './client.ts'
import { Client } from './client.ts'
import type { TestServer } from './server.ts'
import { body } from './world.ts'

/** A browser that keeps the session cookie and sends what a page of the server sends. */
export class Browser {
  readonly #client: Client
  cookie: string | undefined
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
    const cookie = this.cookie === undefined ? undefined : { cookie: this.cookie }
    return this.#client.request(method, path, sent, { ...headers, ...cookie })
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
  }): Promise<Response> {
    const answer = await this.request('POST', '/sessions', body('sessions', attributes))
    if (answer.status === 201) {
      this.cookie = answer.headers.get('set-cookie')?.split(';', 1)[0]
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
