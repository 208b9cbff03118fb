import { beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, pixelsBeyond } from '../support/chromium.ts'
import {
  addressIn,
  declaredAddresses,
  makePageWorld,
  settling,
  WHO,
  type PageWorld,
} from '../support/every-page.ts'
import { usePages } from '../support/pages.ts'
import { isLong } from '../support/runs.ts'

/** Looks at all pages in all widths and both colour schemes. In the long mode, the others see both colour schemes, too. */
const SEES_ALL = 'administrator'

/** What each of them sees, in this order: the page that has this heading, or that it is not there or not for them. */
const MATRIX: Record<string, string> = {
  '/': 'page page page page page: Organizations',
  '/~/sign-in': 'page page page page page: Sign in to Purser',
  '/~/welcome': 'page page page page page: Set your password',
  '/~/account': 'page page page page page: Your account',
  '/~/login': 'page page page page page: Log in from the terminal',
  '/settings/tokens': 'page page page page page: Your tokens',
  '/~/admin/users': '---- ---- ---- ---- page: Users',
  '/~/admin/organizations': '---- ---- ---- ---- page: Organizations of the site',
  '/~/admin/refusals': '---- ---- ---- ---- page: Refusals of the site',
  '/$organization/workspaces': 'page page ---- ---- page: Workspaces',
  '/$organization/workspaces/$workspace': 'page page ---- ---- page: database',
  '/$organization/workspaces/$workspace/states': 'page page ---- ---- page: database',
  '/$organization/workspaces/$workspace/access': 'page page ---- ---- page: database',
  '/$organization/workspaces/$workspace/settings': 'page page ---- ---- page: database',
  '/$organization/projects': 'page page ---- ---- page: Projects',
  '/$organization/projects/$project': 'page page ---- ---- page: shared',
  '/$organization/projects/$project/access': 'page page ---- ---- page: shared',
  '/$organization/projects/$project/settings': 'page page ---- ---- page: shared',
  '/$organization/settings/teams': 'page page page ---- page: Teams',
  '/$organization/settings/teams/$team': 'page page ---- ---- page: readers',
  '/$organization/settings/teams/$team/permissions': 'page page ---- ---- page: readers',
  '/$organization/settings/teams/$team/access': 'page page ---- ---- page: readers',
  '/$organization/settings/teams/$team/tokens': 'page page ---- ---- page: readers',
  '/$organization/settings/teams/$team/settings': 'page page ---- ---- page: readers',
  '/$organization/settings/general': 'page page page ---- page: Settings',
  '/$organization/people': 'page ---- ---- ---- page: People',
  '/$organization/people/$person': 'page ---- page ---- page: plain',
  '/$organization/access': 'page page page page page: Access',
  '/$organization/refusals': 'page ---- ---- ---- page: Refusals',
  '/$organization/audit': 'page ---- ---- ---- page: Audit trail',
}

const WIDTHS = [360, 480, 720, 1024, 1280, 1440, 1920, 2560]
const HIDDEN = /Not there, or not for you|You may not list (workspaces|projects) here/

describe('every page', () => {
  const pages = usePages()
  let world: PageWorld
  beforeAll(async () => {
    world = await makePageWorld(pages)
  })

  const addressOf = (path: string) => addressIn(pages, world, path)

  test('is in the matrix', () => {
    expect(Object.keys(MATRIX).toSorted()).toEqual(declaredAddresses().toSorted())
  })

  test.each(WHO)('is shown to the %s, or said to be hidden', async (who) => {
    const tab = await pages.signIn(who)
    const { page, complaints } = tab
    const settled = settling(page)
    let hasSeenHidden = false
    for (const [path, row] of Object.entries(MATRIX)) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto(addressOf(path))
      await settled()
      const [columns = '', heading = ''] = row.split(': ')
      const isPage = columns.split(' ')[WHO.indexOf(who)] === 'page'
      const alerts = await page.getByRole('alert').allTextContents()
      if (isPage) {
        expect(alerts, path).toEqual([])
        expect(await page.getByRole('heading', { level: 1 }).textContent(), path).toBe(
          world[heading] ?? heading,
        )
      } else {
        expect(await page.locator('main').textContent(), path).toMatch(HIDDEN)
        expect(await page.getByText(/^New /).count(), path).toBe(0)
        expect(complaints, path).toEqual([])
        // What is hidden looks alike everywhere.
        if (hasSeenHidden) continue
        hasSeenHidden = true
      }
      expect(await accessibilityProblems(page), path).toEqual([])
      if (isLong || who === SEES_ALL) {
        await page.emulateMedia({ colorScheme: 'dark' })
        expect(await accessibilityProblems(page, ['color-contrast']), `${path}, dark`).toEqual([])
      }
      // Nothing has to be scrolled sideways, however wide the window is.
      for (const width of who === SEES_ALL ? WIDTHS : []) {
        expect(await pixelsBeyond(page, width), `${path} at ${width} pixels`).toBeLessThanOrEqual(0)
      }
      expect(complaints, path).toEqual([])
    }
  })

  test.each(['workspaces/$workspace', 'projects/$project', 'settings/teams/$team', 'settings/general'])(
    'offers nothing to change where somebody may not: %s',
    async (place) => {
      const { page } = await pages.signIn('reader')
      const tab = place.includes('$') ? '/settings' : ''
      await page.goto(addressOf(`/$organization/${place}${tab}`))
      await page.getByText('may change these settings').waitFor()
      expect(await page.locator('main input:enabled').count()).toBe(0)
      expect(
        await page
          .locator('main')
          .getByRole('button', { name: /^(Save|Delete|Move)/ })
          .count(),
      ).toBe(0)
    },
  )
})
