import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { PASSWORD, usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { addMember, createTeam, createWorkspace, grantWorkspace } from '../support/world.ts'

const MOST_TABS = 40
const outputs = JSON.stringify({
  address: { value: 'db.internal.example', type: 'string' },
  password: { value: 's3cret', type: 'string', sensitive: true },
})
const IS_FOCUS_SEEN = `document.activeElement.matches(':focus-visible')
  && getComputedStyle(document.activeElement).outlineStyle !== 'none'`

/** Presses Tab until the element has the focus, which must be seen. Fails if Tab does not lead there. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  for (let presses = 0; presses < MOST_TABS; presses++) {
    await page.keyboard.press('Tab')
    if ((await element.and(page.locator(':focus')).count()) === 1) {
      expect(await page.evaluate(IS_FOCUS_SEEN)).toBe(true)
      return
    }
  }
  throw new Error(`${MOST_TABS} times Tab do not lead to ${String(element)}`)
}

/** Giving a team outputs only is in access.test.ts. */
describe('with the keyboard alone, somebody', () => {
  const pages = usePages()
  beforeAll(async () => {
    const { organization, server } = pages
    const workspaceId = await createWorkspace(organization, { name: 'database' })
    await createWorkspace(organization, { name: 'network' })
    await createState(organization, outputs, workspaceId)
    const team = await createTeam(organization, { name: 'readers' })
    const access = { access: 'custom', 'state-versions': 'read-outputs' }
    await grantWorkspace(organization, team, workspaceId, access)
    await pages.add('rosa', await addMember(server, organization, [team]))
  })

  /** Signs in, and goes from there to the outputs of the workspace. */
  const goToOutputs = async (): Promise<Page> => {
    const { page, context } = await pages.open()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`${pages.address}/workspaces`)
    await page.getByLabel('User name or email').waitFor()
    await page.keyboard.type(pages.usernameOf('rosa'))
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await tabTo(page, page.getByLabel('Find a workspace'))
    await page.keyboard.type('data')
    await tabTo(page, page.getByRole('link', { name: 'database' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'database' }).waitFor()
    return page
  }
  const copied = async (page: Page, name: string): Promise<string> => {
    await tabTo(page, page.getByRole('button', { name: `Copy ${name}` }))
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Copied ${name}` }).waitFor()
    return page.evaluate<string>('navigator.clipboard.readText()')
  }

  test('reads and copies an output, and skips the bar', async () => {
    const page = await goToOutputs()
    await page.getByText('db.internal.example').waitFor()
    expect(await copied(page, 'address')).toBe('db.internal.example')
    await page.reload()
    await page.getByRole('heading', { name: 'database' }).waitFor()
    await tabTo(page, page.getByRole('link', { name: 'Skip to the content' }))
    expect(await page.locator(':focus').boundingBox()).toMatchObject({ x: 0, y: 0 })
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Outputs')
    expect(page.url()).not.toContain('#')
  })

  test('reveals and copies a secret', async () => {
    const page = await goToOutputs()
    await tabTo(page, page.getByRole('button', { name: 'Reveal password' }))
    await page.keyboard.press('Enter')
    await page.getByText('s3cret').waitFor()
    expect(await copied(page, 'password')).toBe('s3cret')
  })
})
