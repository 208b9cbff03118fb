import { beforeAll, describe, expect, test } from 'vitest'
import { usePages } from '../support/pages.ts'
import { createTeam } from '../support/world.ts'

describe('a search', () => {
  const pages = usePages()
  beforeAll(async () => {
    await createTeam(pages.organization, { name: 'apps' })
  })

  test('leaves the cursor where somebody types', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/settings/teams?q=apps`)
    const field = page.getByLabel('Find a team')
    await field.click()
    await page.keyboard.press('Home')
    await page.keyboard.type('my-old-')
    await expect.poll(() => page.url()).toContain('q=my-old-apps')
    expect(await field.inputValue()).toBe('my-old-apps')
    // The address still rules the field.
    await page.getByRole('link', { name: 'Projects' }).click()
    await page.getByLabel('Find a project').waitFor()
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe('my-old-apps')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Teams')
    await page.getByRole('option', { name: 'Teams' }).click()
    await expect.poll(() => field.inputValue()).toBe('')
    await page.getByRole('cell', { name: 'apps' }).waitFor()
  })
})
