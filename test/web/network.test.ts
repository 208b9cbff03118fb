import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, linkOf } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { createWorkspace } from '../support/world.ts'

const OUTPUTS = JSON.stringify({ password: { value: 's3cret', type: 'string', sensitive: true } })
const UNREACHED = 'The server could not be reached. Check your connection, and try again.'

describe('a network that fails', () => {
  const pages = usePages()
  let workspaceId: string
  beforeAll(async () => {
    workspaceId = await createWorkspace(pages.organization, { name: 'database' })
    await createState(pages.organization, OUTPUTS, workspaceId)
  })

  test('is said at once, and what failed is not done later', async () => {
    const { page, context } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database/settings`)
    await page.getByLabel('Description').fill('written without a network')
    await context.setOffline(true)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('form', { name: 'Settings' }).getByText(UNREACHED).waitFor({ timeout: 10_000 })
    await linkOf(page, 'Workspace', 'Outputs').click()
    await context.setOffline(false)
    await page.getByRole('button', { name: 'Reveal password' }).waitFor()
    const { json } = await pages.organization.owner.client.get(`/workspaces/${workspaceId}`)
    expect(json.data.attributes.description).toBe(null)
  })

  test.each([
    ['the account', '**/api/v2/account/details', 'workspaces'],
    ['the organizations', '**/api/v2/organizations?*', ''],
    ['the script of a page', '**/assets/workspaces-page*', 'workspaces'],
  ])('is tried again on a click: %s', async (_, address, path) => {
    const { page } = await pages.signIn('owner')
    await page.route(address, (route) => route.abort())
    await page.goto(path === '' ? `${pages.server.address}/app` : `${pages.address}/${path}`)
    await page.getByText(UNREACHED).waitFor()
    await page.unroute(address)
    await page.getByRole('button', { name: 'Try again' }).click()
    const shown = path === '' ? pages.organization.name : 'database'
    await page.getByRole('main').getByRole('link', { name: shown }).waitFor({ timeout: 10_000 })
  })

  test('is said in place of a page whose script is not there yet', async () => {
    const { page, context } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database`)
    await page.getByRole('button', { name: 'Reveal password' }).waitFor()
    await context.setOffline(true)
    await linkOf(page, 'Organization', 'Teams').click()
    await page.getByText(UNREACHED).waitFor()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.click()
    expect(await page.getByText(UNREACHED).count()).toBe(1)
    await context.setOffline(false)
    await again.click()
    await page.getByRole('heading', { name: 'Teams' }).waitFor()
  })

  test('does not let somebody believe that they have signed out', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.route('**/api/v2/sessions/*', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in.').waitFor({ timeout: 10_000 })
    await page.getByRole('alert').getByText(UNREACHED).waitFor()
    await expectWellMade(tab)
    await page.unroute('**/api/v2/sessions/*')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
  })

  test.each(['Reveal password', 'Copy password'])('that is slow reads a secret once: %s', async (name) => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database`)
    let reads = 0
    const held = Promise.withResolvers<void>()
    await page.route('**/state-version-outputs/*', async (route) => {
      reads += 1
      await held.promise
      await route.continue()
    })
    const button = page.getByRole('button', { name, exact: true })
    await button.press('Enter')
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true')
    await page.keyboard.press('Enter')
    held.resolve()
    await button.waitFor({ state: 'detached' })
    expect(reads).toBe(1)
  })

  test.each([
    ['that is cut', undefined, UNREACHED],
    ['with a proxy that answers for the server', 502, 'the server answered 502'],
    ['with a proxy that forbids', 403, 'the server answered 403'],
  ])('is told of in words: one %s', async (_, status, words) => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database`)
    await page.route(/state-version-outputs|actions\/lock/, (route) =>
      status === undefined
        ? route.abort()
        : route.fulfill({ status, contentType: 'text/html', body: '<html>Sorry</html>' }),
    )
    for (const name of ['Reveal password', 'Copy password', 'Lock']) {
      await page.getByRole('button', { name, exact: true }).click()
      await expect.poll(() => page.getByRole('alert').last().innerText().catch(String)).toContain(words)
      await page.reload()
    }
  })
})
