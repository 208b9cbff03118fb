import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems, pixelsBeyond } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { isLong } from '../support/runs.ts'
import { createState } from '../support/states.ts'
import {
  addMember,
  createProject,
  createTeam,
  createUser,
  createWorkspace,
  grantWorkspace,
  inProject,
} from '../support/world.ts'

/**
 * Who opens the pages. The reader may read the outputs of the workspace, the member may do no more than every member,
 * the other two are in no organization, and one of them administrates the site.
 */
const WHO = ['owner', 'reader', 'member', 'outsider', 'administrator'] as const
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
  '/$organization/workspaces/$workspace/states': 'page ---- ---- ---- page: database',
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
const IS_DRAWN = `document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null`
const QUIET_MS = 50

/** The addresses of all pages, as web/routes.tsx declares them. A page with tabs has the address of its first tab. */
function declaredAddresses(): string[] {
  const source = readFileSync(join(import.meta.dirname, '../../web/routes.tsx'), 'utf8')
  const declaration =
    /const (\w+) = createRoute\(\{\s*getParentRoute: \(\) => (\w+),\s*(?:id: '(\w+)'|path: '([^']+)')/g
  const routes = new Map<string, { parent: string; path: string; isLayout: boolean }>()
  for (const [, name = '', parent = '', id, path = ''] of source.matchAll(declaration)) {
    routes.set(name, { parent, path: path === '/' ? '' : path, isLayout: id !== undefined })
  }
  expect(routes.size, 'routes that this pattern reads').toBe(source.split('= createRoute(').length - 1)
  const addressOf = (name: string): string => {
    const route = routes.get(name)
    return route === undefined ? '' : addressOf(route.parent) + route.path
  }
  const pages = [...routes].filter(([, { isLayout }]) => !isLayout)
  return [...new Set(pages.map(([name]) => addressOf(name) || '/'))]
}

/** Waits until the page has its heading, and nothing more is on its way. */
function settling(page: Page): () => Promise<void> {
  let lastAt = 0
  const waiting = new Set<unknown>()
  page.on('request', (request) => waiting.add(request))
  const ended = (request: unknown) => {
    waiting.delete(request)
    lastAt = performance.now()
  }
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  const isQuiet = () => waiting.size === 0 && performance.now() - lastAt > QUIET_MS
  return () => expect.poll(async () => isQuiet() && (await page.evaluate(IS_DRAWN)) === true).toBe(true)
}

describe('every page', () => {
  const pages = usePages()
  let ids: Record<string, string>
  beforeAll(async () => {
    const { organization, server } = pages
    const project = await createProject(organization, { name: 'shared' })
    const workspaceId = await createWorkspace(organization, { name: 'database' }, inProject(project))
    const outputs = {
      address: { value: 'db', type: 'string' },
      password: { value: 1, type: 'number', sensitive: true },
    }
    await createState(organization, JSON.stringify(outputs), workspaceId)
    const team = await createTeam(organization, { name: 'readers' })
    const access = { access: 'custom', 'state-versions': 'read-outputs' }
    await grantWorkspace(organization, team, workspaceId, access)
    const administrator = await createUser(server, 'administrator')
    await server.admin.post(`/admin/users/${administrator.id}/actions/grant_admin`)
    await pages.add('reader', await addMember(server, organization, [team]))
    const plain = await addMember(server, organization)
    await pages.add('member', plain)
    await pages.add('outsider', await createUser(server, 'outsider'))
    await pages.add('administrator', administrator)
    ids = {
      organization: organization.name,
      workspace: 'database',
      project,
      team,
      person: plain.membershipId,
      plain: plain.username,
    }
  })

  const addressOf = (path: string) =>
    `${pages.server.address}/app${path.replaceAll(/\$(\w+)/g, (_, name: string) => ids[name] ?? name)}`

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
          ids[heading] ?? heading,
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
      await page.getByText('You may not change these').waitFor()
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
