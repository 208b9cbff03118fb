import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectWellMade, useChromium, type Tab } from '../support/chromium.ts'
import { PASSWORD } from '../support/pages.ts'
import { Purser, settingsFor } from '../support/purser.ts'
import { output } from '../support/seeded.ts'

const IMAGES = join(import.meta.dirname, '../../docs/images')
/** `PURSER_SCREENSHOTS=1 npm run test:all -- test/web/demo` makes the images of the docs anew. */
const makesImages = process.env.PURSER_SCREENSHOTS === '1'

/** The main pages as anna, who owns the demo organization, sees them. The text is there once the page has loaded. */
const shown = [
  ['workspaces', '/demo/workspaces', 'Default Project'],
  ['outputs', '/demo/workspaces/database', 'db.internal.example'],
  ['history', '/demo/workspaces/database/states', 'Serial'],
  ['workspace-access', '/demo/workspaces/database/access', 'apps'],
  ['project', '/demo/projects', 'Where reports come from'],
  ['teams', '/demo/settings/teams', 'manage-workspaces'],
  ['people', '/demo/people', 'fay@demo.example'],
  ['access', '/demo/access?user=rosa', 'read-outputs'],
  ['refusals', '/demo/refusals', 'Any one of these'],
  ['audit', '/demo/audit', 'state-version.create'],
] as const

describe('the demo data', () => {
  const open = useChromium()

  async function signIn(): Promise<{ tab: Tab; address: string }> {
    const settings = await settingsFor('sqlite')
    await output(['seed', '--json'], settings)
    const address = `${await new Purser(['serve'], settings).address()}/app`
    const [, secret] = (await output(['user', 'password-link', 'anna'], settings)).split('#')
    const tab = await open()
    const { page } = tab
    await page.goto(`${address}/~/welcome#${secret}`)
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('New password, again').fill(PASSWORD)
    await page.getByRole('button').click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    return { tab, address }
  }

  test('gives every main page something to show', async () => {
    const { tab, address } = await signIn()
    const { page } = tab
    if (makesImages) mkdirSync(IMAGES, { recursive: true })
    for (const [name, path, text] of shown) {
      await page.goto(address + path)
      await page.getByText(text).filter({ visible: true }).first().waitFor()
      expect(await page.getByRole('heading', { level: 1 }).count(), name).toBe(1)
      await expectWellMade(tab)
      if (makesImages) await photograph(tab, name)
    }
  })
})

async function photograph({ page }: Tab, name: string): Promise<void> {
  await page.setViewportSize({ width: 1100, height: 620 })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) })
  }
}
