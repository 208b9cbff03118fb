import { expect, test } from 'vitest'
import { Browser, passwordLink } from '../support/browser.ts'
import { useChromium } from '../support/chromium.ts'
import { PASSWORD } from '../support/pages.ts'
import { startServer } from '../support/server.ts'
import { createUser } from '../support/world.ts'

const MORE_THAN_A_PAGE = 101
const open = useChromium()

test('signing out ends the session of this browser, also if very many are newer', async () => {
  const server = await startServer('sqlite', { maxSessions: '200' })
  try {
    const { id, username } = await createUser(server)
    const link = await passwordLink(server.admin, id)
    await new Browser(server.address).signIn({ link, password: PASSWORD })
    const { page } = await open()
    await page.goto(`${server.address}/app`)
    await page.getByLabel('User name or email').fill(username)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Organizations' }).waitFor()
    for (let count = 0; count < MORE_THAN_A_PAGE; count += 1) {
      const other = await new Browser(server.address).signIn({ login: username, password: PASSWORD })
      expect(other.status).toBe(201)
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    await page.goto(`${server.address}/app`)
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor({ timeout: 10_000 })
  } finally {
    await server.stop()
  }
})
