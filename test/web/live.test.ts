import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { addMember, createTeam, createWorkspace } from '../support/world.ts'

const ANSWER_MS = 300
const outputs = JSON.stringify({ address: { value: 'db.internal.example', type: 'string' } })

describe('the pages in view', () => {
  const pages = usePages()
  beforeAll(async () => {
    const team = await createTeam(pages.organization, { name: 'apps' })
    await createWorkspace(pages.organization)
    await pages.add('plain', await addMember(pages.server, pages.organization, [team]))
  })

  /** A tab whose time the test moves, and the statuses of what the server answers in it. */
  const openAt = async (who: string, place: string): Promise<Tab & { statuses: number[] }> => {
    const tab = await pages.signIn(who)
    const statuses: number[] = []
    await tab.page.clock.install()
    await tab.page.goto(`${pages.address}/${place}`)
    tab.page.on('response', (response) => {
      if (response.url().includes('/api/v2/')) statuses.push(response.status())
    })
    return { ...tab, statuses }
  }

  /** Moves the time of the tab, with a moment for the server to answer what is asked meanwhile. */
  const passHalfAMinute = async (page: Page) => {
    for (let times = 0; times < 3; times += 1) {
      await page.clock.runFor(11_000)
      await sleep(ANSWER_MS)
    }
  }

  test('show what others change, and ask with the ETag of what they have', async () => {
    const { organization, server } = pages
    const changes = {
      workspaces: () => createWorkspace(organization, { name: 'made-by-others' }),
      'settings/teams': () => createTeam(organization, { name: 'made-by-others' }),
      people: async () => (await addMember(server, organization)).username,
      audit: () => createTeam(organization, { name: 'seen-in-the-trail' }),
    }
    const texts: Record<string, string> = { audit: 'seen-in-the-trail' }
    for (const [place, change] of Object.entries(changes)) {
      const { page, statuses } = await openAt('owner', place)
      await page.getByRole('table').waitFor()
      await page.clock.runFor(11_000)
      await expect.poll(() => statuses, { message: place }).toContain(304)
      expect(new Set(statuses.filter((status) => status >= 400)), place).toEqual(new Set())
      const made = await change()
      await page.clock.runFor(11_000)
      const text = place === 'people' ? made : (texts[place] ?? 'made-by-others')
      await page.getByText(text).first().waitFor()
      await page.close()
    }
  })

  test('show the first state of a workspace', async () => {
    const workspaceId = await createWorkspace(pages.organization, { name: 'without-state' })
    const { page, statuses } = await openAt('owner', 'workspaces/without-state')
    await page.getByText('No state yet').waitFor()
    await passHalfAMinute(page)
    await expect.poll(() => statuses).toContain(304)
    // Each would be a row among the refusals.
    expect(statuses.filter((status) => status === 404)).toEqual([])
    await createState(pages.organization, outputs, workspaceId)
    await page.clock.runFor(11_000)
    await page.getByText('db.internal.example').waitFor()
  })

  test('ask nothing while the tab is hidden', async () => {
    const { page, statuses } = await openAt('owner', 'workspaces')
    await page.getByRole('table').waitFor()
    const show = (state: 'hidden' | 'visible') =>
      page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show('hidden')
    const before = statuses.length
    await passHalfAMinute(page)
    expect(statuses.length).toBe(before)
    await show('visible')
    await page.clock.runFor(11_000)
    await expect.poll(() => statuses.length).toBeGreaterThan(before)
  })

  test('do not ask again for what was refused', async () => {
    const { page, statuses } = await openAt('plain', 'workspaces')
    await page.getByText('You may not list workspaces here').waitFor()
    await passHalfAMinute(page)
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(1)
  })
})
