import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade } from '../support/chromium.ts'
import { PASSWORD, usePages } from '../support/pages.ts'
import { addMember, createTeam, createWorkspace } from '../support/world.ts'

const BACKDROP = `getComputedStyle(document.querySelector('dialog'), '::backdrop').backgroundColor`
const BACKGROUND = 'getComputedStyle(document.documentElement).backgroundColor'

describe('a session that ends while pages are open', () => {
  const pages = usePages()
  beforeAll(async () => {
    const { organization, server } = pages
    const team = await createTeam(organization, { name: 'apps', visibility: 'organization' })
    await createWorkspace(organization, { name: 'database' })
    await pages.add('other', await addMember(server, organization, [team]))
  })

  /** Ends all sessions of the owner. */
  const endSessions = async () => {
    const { id } = pages.organization.owner
    const answer = await pages.server.admin.delete(`/users/${id}/sessions`)
    expect(answer.status, answer.text).toBe(204)
  }
  const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Sign in again' })

  test('is begun again over the page, with the keyboard alone, and nothing typed is lost', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/database/settings`)
    await page.getByLabel('Description').fill('typed for long')
    await endSessions()
    await page.keyboard.press('Enter')
    const dialog = dialogOf(page)
    await dialog.waitFor()
    // Nothing of the page can be read.
    expect(await page.evaluate(BACKDROP)).toBe(await page.evaluate(BACKGROUND))
    await expectWellMade(tab)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    expect(await dialog.isVisible()).toBe(true)
    await page.keyboard.type('wrong horse')
    await page.keyboard.press('Enter')
    await dialog.getByText('the user name, email or password is wrong').waitFor()
    await dialog.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Description').inputValue()).toBe('typed for long')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('typed for long', { exact: true }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('is begun on a page to which Back does not lead', async () => {
    const { page } = await pages.open()
    await page.goto(`${pages.server.address}/app/~/account`)
    await page.getByLabel('User name or email').waitFor()
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByLabel('User name or email').fill(pages.usernameOf('owner'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Teams' }).waitFor()
    await page.getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Teams' }).waitFor()
    await page.goBack()
    await page.waitForURL((url) => !url.pathname.endsWith('/teams'))
    expect(page.url()).not.toContain(pages.organization.name)
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
  })

  test('is left with the page if somebody else signs in', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database/settings`)
    await page.getByLabel('Description').fill('not for others')
    await endSessions()
    await page.keyboard.press('Enter')
    await dialogOf(page).getByLabel('User name or email').fill(pages.usernameOf('other'))
    await dialogOf(page).getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Organizations' }).waitFor()
    await page.getByRole('link', { name: pages.usernameOf('other') }).waitFor()
  })

  test('goes on in all tabs after one sign-in, and ends in all tabs with one sign-out', async () => {
    const { page, context } = await pages.signIn('owner')
    await page.goto(`${pages.address}/settings/teams`)
    const second = await context.newPage()
    await second.goto(`${pages.address}/workspaces`)
    await second.getByRole('link', { name: 'database' }).waitFor()
    await endSessions()
    for (const each of [page, second]) {
      await each.getByRole('link', { name: 'Projects' }).click()
      await dialogOf(each).waitFor()
    }
    await dialogOf(page).getByLabel('Password').fill(PASSWORD)
    await dialogOf(page).getByRole('button', { name: 'Sign in' }).click()
    for (const each of [page, second]) {
      await dialogOf(each).waitFor({ state: 'detached' })
      await each.getByText('Default Project').waitFor()
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    for (const each of [page, second]) {
      await each.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    }
    expect(await second.getByText('Default Project').count()).toBe(0)

    await second.getByLabel('User name or email').fill(pages.usernameOf('owner'))
    await second.getByLabel('Password').fill(PASSWORD)
    await second.keyboard.press('Enter')
    await second.getByRole('heading', { name: 'Projects' }).waitFor()
  })

  test('takes every tab from a page of somebody else', async () => {
    const { page, context } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'database' }).waitFor()
    const second = await context.newPage()
    await second.goto(`${pages.server.address}/app/~/sign-in`)
    await second.getByLabel('User name or email').fill(pages.usernameOf('other'))
    await second.getByLabel('Password').fill(PASSWORD)
    await second.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Organizations' }).waitFor()
    await page.getByRole('link', { name: pages.usernameOf('other') }).waitFor()
  })
})
