import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { linkOf, useChromium } from '../support/chromium.ts'
import { signInWith, usePages, type Pages } from '../support/pages.ts'
import { addMember, body, createTeam, createWorkspace, grantWorkspace } from '../support/world.ts'

/** What has the focus: its name for a screen reader, or its text. */
const FOCUSED = `(({ labels, ariaLabel, textContent }) =>
  ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`

describe('the focus', () => {
  let pages: Pages
  let teamId: string
  const open = useChromium()
  beforeAll(async () => {
    pages = await usePages()
    const { organization, server } = pages
    teamId = await createTeam(organization, { name: 'apps' })
    await addMember(server, organization, [teamId])
    const workspaceId = await createWorkspace(organization, { name: 'database' })
    await grantWorkspace(organization, teamId, workspaceId, { access: 'read' })
  })
  afterAll(() => pages.server.stop())

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
    const { page } = await signInWith(open, pages, 'owner')
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
})
