import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { challengeOf } from '../../src/login/login-codes.ts'
import { Client } from '../support/client.ts'
import { expectWellMade } from '../support/chromium.ts'
import { PASSWORD, usePages } from '../support/pages.ts'

const VERIFIER = 'a-verifier-that-only-the-program-knows.123456789'
const PORTS = [10_000, 10_001, 10_002, 10_003, 10_004, 10_005, 10_006, 10_007, 10_008, 10_009]

/** A program that waits for a code, as `tofu login` does, on the first port that is free. */
async function waitingProgram(): Promise<{ port: number; called: Promise<URL>; stop: () => void }> {
  for (const port of PORTS) {
    let answered: (address: URL) => void
    const called = new Promise<URL>((resolve) => (answered = resolve))
    const server = createServer((request, response) => {
      const address = new URL(request.url ?? '', `http://localhost:${port}`)
      response.end('You may close this page.')
      if (address.pathname === '/login') answered(address)
    })
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    if (isFree) return { port, called, stop: () => void server.close() }
  }
  throw new Error('none of the ports is free')
}

describe('the page that tofu login opens', () => {
  const pages = usePages()

  const addressWith = (redirect: string) => {
    const query = new URLSearchParams({
      client_id: 'terraform-cli',
      code_challenge: challengeOf(VERIFIER),
      code_challenge_method: 'S256',
      redirect_uri: redirect,
      response_type: 'code',
      state: '5b6bd0f5-9e3e-4ab1-a2a6-df30dbfc9bd1',
    })
    return `${pages.server.address}/app/~/login?${query.toString()}`
  }

  test('lets the program have a token, after signing in', async () => {
    const program = await waitingProgram()
    try {
      const redirect = `http://localhost:${program.port}/login`
      const tab = await pages.open()
      const { page } = tab
      await page.goto(addressWith(redirect))
      await page.getByLabel('User name or email').fill(pages.usernameOf('owner'))
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Log in from the terminal' }).waitFor()
      await expectWellMade(tab)
      await page.getByRole('button', { name: 'Give it a token' }).click()
      const called = await program.called
      expect(called.searchParams.get('state')).toBe('5b6bd0f5-9e3e-4ab1-a2a6-df30dbfc9bd1')
      const given = await fetch(`${pages.server.address}/login/token`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: 'terraform-cli',
          code: called.searchParams.get('code') ?? '',
          code_verifier: VERIFIER,
          grant_type: 'authorization_code',
          redirect_uri: redirect,
        }),
      })
      const { access_token: token } = (await given.json()) as { access_token: string }
      const { json } = await new Client(pages.server.address, token).get('/account/details')
      expect(json.data.attributes.username).toBe(pages.usernameOf('owner'))
    } finally {
      program.stop()
    }
  })

  test('gives nothing out if the person says no, or to another address', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(addressWith('http://localhost:10000/login'))
    await page.getByRole('button', { name: 'No' }).click()
    await page.getByText('Press Ctrl-C there').waitFor()
    await expectWellMade(tab)
    const elsewhere = addressWith('https://elsewhere.example/login')
    await page.goto(elsewhere)
    await page.getByRole('button', { name: 'Give it a token' }).click()
    await page.getByText('redirect-uri must be http://localhost:PORT/login').waitFor()
    await expectWellMade(tab)
    expect(new URL(page.url()).host).toBe(new URL(elsewhere).host)
  })
})
