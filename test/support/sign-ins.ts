// What a restore or a move must not bring back: a session, a password link and a login code.
import { expect } from 'vitest'
import { Browser, passwordLink } from './browser.ts'
import { Client, type Response } from './client.ts'
import { ADMIN_TOKEN } from './purser.ts'
import { body, createUser } from './world.ts'

const PASSWORD = 'correct horse battery'

export type SignIn = { browser: Browser; link: string }

/** Asks for a login code, as the page does once a person has agreed. */
export function askForCode(browser: Browser): Promise<Response> {
  return browser.request(
    'POST',
    '/account/login-codes',
    body('login-codes', {
      'client-id': 'terraform-cli',
      'response-type': 'code',
      'redirect-uri': 'http://localhost:10000/login',
      'code-challenge': 'x'.repeat(43),
      'code-challenge-method': 'S256',
      state: 'a-state',
    }),
  )
}

/** A new user who has a session, a login code of it and an unused password link. The server has `ADMIN_TOKEN`. */
export async function newSignIn(address: string): Promise<SignIn> {
  const client = (token?: string) => new Client(address, token)
  const admin = client(ADMIN_TOKEN)
  const { id } = await createUser({ admin, client })
  const browser = new Browser(address)
  expect((await browser.signIn({ link: await passwordLink(admin, id), password: PASSWORD })).status).toBe(201)
  const code = await askForCode(browser)
  expect(code.status, code.text).toBe(201)
  return { browser, link: await passwordLink(admin, id) }
}

/** A server at this address knows neither the session nor the link. */
export async function expectEnded({ browser, link }: SignIn, address: string): Promise<void> {
  const sameBrowser = new Browser(address)
  sameBrowser.cookie = browser.cookie
  expect((await sameBrowser.get('/account/details')).status).toBe(401)
  expect((await new Browser(address).signIn({ link, password: PASSWORD })).status).toBe(401)
}
