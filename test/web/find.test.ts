import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { addMember, createProject, createTeam, createWorkspace, grantWorkspace } from '../support/world.ts'

describe('finding anything by its name', () => {
  const pages = usePages()
  beforeAll(async () => {
    const { organization, server } = pages
    const team = await createTeam(organization, { name: 'harbour' })
    await createTeam(organization, { name: 'harbour-masters' })
    await createProject(organization, { name: 'harbour-walls' })
    const workspaceId = await createWorkspace(organization, { name: 'harbour-lights' })
    await createWorkspace(organization, { name: 'harbour-secrets' })
    await grantWorkspace(organization, team, workspaceId, { access: 'read' })
    await pages.add('member', await addMember(server, organization, [team]))
    await pages.add('plain', await addMember(server, organization))
  })

  const optionsOf = (page: Page) => page.getByRole('dialog', { name: 'Find' }).getByRole('option')
  const textsOf = (page: Page) => optionsOf(page).allTextContents()

  test('takes the keyboard alone to a page, a team, a workspace, a project and a person', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'harbour-lights' }).waitFor()
    const find = async (text: string) => {
      await page.keyboard.press('/')
      await page.getByRole('dialog', { name: 'Find' }).waitFor()
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'Find' }).waitFor({ state: 'detached' })
    }
    await find('audit')
    await page.getByRole('heading', { name: 'Audit trail' }).waitFor()
    await find('harbour')
    await page.getByRole('heading', { name: 'harbour', exact: true }).waitFor()
    expect(page.url()).toContain('/settings/teams/team-')
    await find('harbour-lights')
    await page.getByRole('heading', { name: 'harbour-lights' }).waitFor()
    await find('harbour-walls')
    await page.getByRole('heading', { name: 'harbour-walls' }).waitFor()
    await find(pages.usernameOf('member'))
    await page.getByRole('rowheader', { name: pages.usernameOf('member') }).waitFor()

    await page.keyboard.press('Control+k')
    await page.keyboard.type('harbour-')
    await expect.poll(() => optionsOf(page).count()).toBe(4)
    await expectWellMade(tab)
    const texts = await textsOf(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    expect(await page.getByRole('option', { selected: true }).textContent()).toBe(texts[1])
    // A background alone is not seen where colours are forced.
    await page.emulateMedia({ forcedColors: 'active' })
    const outlines = `[...document.querySelectorAll('[role=option]')].map((option) =>
      [option.ariaSelected, getComputedStyle(option).outlineStyle].join(' '))`
    expect([...new Set(await page.evaluate<string[]>(outlines))].toSorted()).toEqual([
      'false none',
      'true solid',
    ])
    await page.emulateMedia({ forcedColors: 'none' })
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect(await page.getByRole('option', { selected: true }).textContent()).toBe(texts[3])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Find' }).waitFor({ state: 'detached' })

    await page.goto(`${pages.address}/people`)
    const field = page.getByLabel('Find people')
    await field.fill('a')
    await field.press('/')
    expect(await field.inputValue()).toBe('a/')
    expect(tab.complaints).toEqual([])
  })

  test('leads from a request id to the refusal', async () => {
    const member = pages.organization.owner.client
    const refused = await member.get(`/workspaces/ws-${'1'.repeat(16)}`)
    const id = refused.headers.get('x-request-id') ?? ''
    expect(id).toMatch(/^[0-9a-f]{20}$/)
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('button', { name: 'Find …' }).click()
    await page.keyboard.type(` ${id} `)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Refusals' }).waitFor()
    expect(page.url()).toContain(`q=${id}`)
  })

  test('finds nothing that the caller may not see, and leaves no refusals', async () => {
    const path = `/organizations/${pages.organization.name}/refusals`
    const { client } = pages.organization.owner
    for (const [who, expected] of [
      ['member', ['harbour-lights workspace', 'harbour team']],
      ['plain', []],
    ] as const) {
      const tab = await pages.signIn(who)
      const { page } = tab
      await page.goto(`${pages.address}/settings/teams`)
      await page.getByRole('heading', { name: 'Teams' }).waitFor()
      const refusals = async () => (await client.get(path)).json.meta.pagination['total-count']
      const before = await refusals()
      await page.getByRole('button', { name: 'Find …' }).click()
      await page.keyboard.type('harb')
      await expect.poll(() => textsOf(page), { message: who }).toEqual(expected)
      const status = page.getByRole('dialog').getByRole('status')
      await status.filter({ hasNotText: 'Searching' }).waitFor()
      expect(await textsOf(page)).toEqual(expected)
      await expectWellMade(tab)
      expect(await refusals()).toBe(before)
    }
  })

  test('finds organizations where no organization is shown', async () => {
    const { page } = await pages.signIn('owner')
    await page.keyboard.press('/')
    await page.keyboard.type(pages.organization.name.slice(0, 14))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
  })
})
