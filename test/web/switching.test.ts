import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { linkOf } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { addMember, createProject, createTeam, createWorkspace } from '../support/world.ts'

const outputs = (value: string) => JSON.stringify({ address: { value, type: 'string' } })

/** A page that was shown before is known, so that it is shown at once when somebody goes back to it. */
describe('from one object to another of its kind, nothing is taken along', () => {
  const pages = usePages()
  const members: Record<string, string> = {}
  beforeAll(async () => {
    const { organization, server } = pages
    for (const name of ['alpha', 'beta']) {
      const workspaceId = await createWorkspace(organization, { name: `${name}-space` })
      await createState(organization, outputs(`of ${name}`), workspaceId)
      await createProject(organization, { name: `${name}-project` })
      const team = await createTeam(organization, { name: `${name}-team` })
      members[name] = (await addMember(server, organization, [team])).username
    }
  })

  const find = async (page: Page, name: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(name)
    await page.getByRole('option', { name }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
  }
  const opened = async (page: Page) => {
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'alpha-space' }).waitFor()
    return page
  }
  const back = (page: Page, steps: number) => page.evaluate(`history.go(${-steps})`)

  test('of a workspace: its outputs', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/alpha-space`)
    await page.getByText('of alpha').waitFor()
    await find(page, 'beta-space')
    await page.getByText('of beta').waitFor()
    await back(page, 1)
    await page.getByRole('heading', { name: 'alpha-space' }).waitFor()
    await page.getByText('of alpha').waitFor()
    expect(await page.getByText('of beta').count()).toBe(0)
    expect(await page.getByText('A newer state is here').count()).toBe(0)
  })

  test.each([
    ['a workspace', 'space', 'Workspace', 'Give access'],
    ['a project', 'project', 'Project', 'Give access'],
    ['a team', 'team', undefined, 'Add people'],
  ])('of %s: a form that was opened', async (_, kind, navigation, form) => {
    const { page } = await pages.signIn('owner')
    await opened(page)
    const button = page.getByRole('button', { name: form })
    for (const name of ['alpha', 'beta']) {
      await find(page, `${name}-${kind}`)
      if (navigation !== undefined) await linkOf(page, navigation, 'Access').click()
      await button.waitFor()
    }
    await button.click()
    await page.getByRole('form', { name: form }).waitFor()
    await back(page, navigation === undefined ? 1 : 2)
    await page.getByRole('heading', { name: `alpha-${kind}` }).waitFor()
    await button.waitFor()
    expect(await page.getByRole('form', { name: form }).count()).toBe(0)
  })

  test('of a person: the question whether to remove them', async () => {
    const { page } = await pages.signIn('owner')
    await opened(page)
    for (const name of ['alpha', 'beta']) await find(page, members[name] as string)
    await page.getByRole('button', { name: /^Remove .* …$/ }).click()
    await page.getByRole('group', { name: /^Remove / }).waitFor()
    await back(page, 1)
    await page.getByRole('heading', { name: members['alpha'] as string }).waitFor()
    await page.getByRole('button', { name: /^Remove .* …$/ }).waitFor()
  })
})
