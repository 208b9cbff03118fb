import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { linkOf } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { addMember, body, createTeam, createWorkspace, grantWorkspace } from '../support/world.ts'

/** What has the focus: its name for a screen reader, or its text. */
const FOCUSED = `(({ labels, ariaLabel, textContent }) =>
  ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`

describe('the focus', () => {
  const pages = usePages()
  let teamId: string
  beforeAll(async () => {
    const { organization, server } = pages
    teamId = await createTeam(organization, { name: 'apps' })
    await addMember(server, organization, [teamId])
    const workspaceId = await createWorkspace(organization, { name: 'database' })
    await grantWorkspace(organization, teamId, workspaceId, { access: 'read' })
  })

  const focused = (page: Page) => expect.poll(() => page.evaluate<string>(FOCUSED))
  /** Presses a button with the keyboard. */
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).first().press('Enter')
  const makeToken = async (description: string) => {
    const token = body('authentication-tokens', { description })
    const answer = await pages.organization.owner.client.post(`/teams/${teamId}/authentication-tokens`, token)
    expect(answer.status, answer.text).toBe(201)
  }

  test('stays on a button while the server works, and pressing it again does nothing', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database/settings`)
    let saves = 0
    let goOn: () => void = () => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    await page.route('**/api/v2/workspaces/*', async (route) => {
      if (route.request().method() === 'PATCH') {
        saves += 1
        await held
      }
      await route.continue()
    })
    await page.getByLabel('Description').fill('slow')
    const save = page.getByRole('button', { name: 'Save', exact: true })
    await save.press('Enter')
    await expect.poll(() => save.getAttribute('aria-disabled')).toBe('true')
    await focused(page).toBe('Save')
    await page.keyboard.press('Enter')
    // Enter in a field sends a form with its button.
    await page.getByLabel('Description').press('Enter')
    await save.focus()
    goOn()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await focused(page).toBe('Save')
    expect(saves).toBe(1)
  })

  test('goes to what is opened, back when it is closed, and to the next row when one goes away', async () => {
    await makeToken('first')
    await makeToken('second')
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/settings/teams/${teamId}/tokens`)
    await press(page, 'New token')
    await focused(page).toBe('What it is for')
    await page.keyboard.press('Escape')
    await focused(page).toBe('New token')
    await press(page, 'Revoke second')
    await focused(page).toBe('Keep it')
    await press(page, 'Keep it')
    await focused(page).toBe('Revoke second')
    await press(page, 'Revoke second')
    await press(page, 'Revoke for good second')
    await focused(page).toBe('Revoke first')

    await page.goto(`${pages.address}/settings/teams/${teamId}/settings`)
    await press(page, 'Delete the team …')
    await focused(page).toBe('Type apps to delete it')
    await press(page, 'Keep it')
    await focused(page).toBe('Delete the team …')
  })

  test.each([
    ['a grant is taken away', () => 'workspaces/database/access', 'Take away the access of apps', 'Keep it'],
    ['somebody is removed from a team', () => `settings/teams/${teamId}`, /^Remove /, 'Keep'],
  ])('goes to the question and back when %s', async (_, path, name, keep) => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/${path()}`)
    const button = page.getByRole('button', { name })
    await button.press('Enter')
    await focused(page).toBe(keep)
    await press(page, keep)
    await focused(page).toBe(await button.getAttribute('aria-label'))
  })

  test('stays on the field of a search that is sent', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/audit`)
    await page.getByLabel('Action, such as').fill('team.create')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/audit?action=team.create')
    await focused(page).toBe('Action, such as team.create')
  })

  test('goes back into the page after somebody has signed in again', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database/settings`)
    await page.getByLabel('Description').fill('typed for long')
    await pages.server.admin.delete(`/users/${pages.organization.owner.id}/sessions`)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Password').fill('correct horse battery')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await focused(page).toBe('Description')
  })

  test('goes to the heading of a page whose script arrives late, and stays on a tab', async () => {
    const { page } = await pages.signIn('owner')
    await page.route('**/assets/team-page*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      await route.continue()
    })
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByRole('link', { name: 'apps' }).press('Enter')
    await focused(page).toBe('apps')
    await expect.poll(() => page.title()).toBe(`Members · apps · ${pages.organization.name} · Purser`)
    await linkOf(page, 'Team', 'Tokens').press('Enter')
    await expect.poll(() => page.title()).toBe(`Tokens · apps · ${pages.organization.name} · Purser`)
    await focused(page).toBe('Tokens')
  })
})
