import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { body, createTeam, createUser, createWorkspace, uniqueName } from '../support/world.ts'

const ONE_MORE_THAN_A_PAGE = 21

describe('the pages of lists', () => {
  const pages = usePages()
  let team: string
  beforeAll(async () => {
    team = await createTeam(pages.organization, { name: 'apps' })
    const workspaceId = await createWorkspace(pages.organization, { name: 'database' })
    await createState(pages.organization, '{}', workspaceId)
    await makeTokens(ONE_MORE_THAN_A_PAGE)
  })

  const makeTokens = async (count: number) => {
    for (let place = 1; place <= count; place += 1) {
      const token = body('authentication-tokens', { description: uniqueName('token') })
      const answer = await pages.organization.owner.client.post(`/teams/${team}/authentication-tokens`, token)
      expect(answer.status, answer.text).toBe(201)
    }
  }

  test('lead back from a page whose last row was removed', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/teams/${team}/tokens`)
    const revokes = page.getByRole('button', { name: /^Revoke token/ })
    await page.getByRole('button', { name: 'Next' }).click()
    await expect.poll(() => revokes.count()).toBe(1)
    await revokes.click()
    await page.getByRole('button', { name: /^Revoke for good/ }).click()
    await page.getByText('There is nothing on page 2 any more.').waitFor({ timeout: 10_000 })
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Show the first page' }).click()
    await expect.poll(() => revokes.count()).toBe(20)
  })

  test('reach every organization, and do not hide an invitation behind a hundred memberships', async () => {
    const { client } = pages.organization.owner
    const guest = await createUser(pages.server, 'guest')
    await pages.add('guest', guest)
    const invitation = body('organization-memberships', { email: guest.email })
    const found = async (name: string) => {
      const made = await client.post(
        '/organizations',
        body('organizations', { name, email: 'o@example.com' }),
      )
      expect(made.status, made.text).toBe(201)
      const invited = await client.post(`/organizations/${name}/organization-memberships`, invitation)
      expect(invited.status, invited.text).toBe(201)
    }
    await Promise.all(Array.from({ length: 101 }, (_, place) => found(`z-${place + 1}`)))
    const { page } = await pages.signIn('owner')
    expect(await page.getByRole('link', { name: 'z-99', exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'Next' }).click({ timeout: 10_000 })
    await page.getByRole('link', { name: 'z-99', exact: true }).waitFor({ timeout: 10_000 })
    await page.getByRole('button', { name: 'Previous' }).click()
    await page.getByRole('link', { name: 'z-1', exact: true }).waitFor()
    const ofGuest = await pages.signIn('guest')
    await expect.poll(() => ofGuest.page.getByRole('group', { name: 'Invitation to z-' }).count()).toBe(101)
  })

  test('stay while the next one is on its way, with the focus, and say that it is', async () => {
    const { page } = await pages.signIn('owner')
    await makeTokens(1)
    await page.goto(`${pages.address}/settings/teams/${team}/tokens`)
    let asked = 0
    const held = Promise.withResolvers<void>()
    await page.route('**/authentication-tokens?*number%5D=2', async (route) => {
      asked += 1
      await held.promise
      await route.continue()
    })
    const next = page.getByRole('button', { name: 'Next' })
    await page.getByText('page 1 of 2').waitFor()
    await next.press('Enter')
    await page.getByRole('navigation', { name: 'Pages' }).getByText('Loading …').waitFor({ timeout: 10_000 })
    await page.keyboard.press('Enter')
    await next.and(page.locator(':focus')).waitFor()
    held.resolve()
    await expect.poll(() => page.getByRole('rowheader').count()).toBeLessThan(20)
    await next.and(page.locator(':focus')).waitFor()
    await page.getByRole('status').getByText('page 2 of 2').waitFor()
    expect(asked).toBe(1)
  })

  test('say how many a search has found, to a screen reader too, and that it is on its way', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/settings/teams`)
    const status = page.getByRole('main').getByRole('status')
    await status.getByText('2 found').waitFor()
    const held = Promise.withResolvers<void>()
    await page.route('**/teams?*q=app*', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.getByLabel('Find a team').fill('app')
    await status.getByText('Loading …').waitFor()
    held.resolve()
    await status.getByText('1 found').waitFor()
    await page.getByLabel('Find a team').fill('nobody')
    await status.getByText('0 found').waitFor({ state: 'attached' })
  })

  test.each([
    ['teams', () => 'settings/teams', 'apps'],
    ['workspaces', () => 'workspaces', 'database'],
    ['the history', () => 'workspaces/database/states', 'Download'],
    ['refusals', () => 'refusals', undefined],
    ['what somebody may do', () => `access?user=${pages.usernameOf('owner')}`, 'database'],
  ])('do not say of %s that there are none, on a page after the last', async (_, address, shown) => {
    const { page } = await pages.signIn('owner')
    const path = address()
    await page.goto(`${pages.address}/${path}${path.includes('?') ? '&' : '?'}page=7`)
    await page.getByRole('button', { name: 'Show the first page' }).click({ timeout: 10_000 })
    const words = shown ?? 'Nobody was refused'
    await page.getByRole('main').getByText(words, { exact: false }).first().waitFor({ timeout: 10_000 })
  })
})
