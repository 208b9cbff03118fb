import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Pages } from './pages.ts'
import { createState } from './states.ts'
import {
  addMember,
  createProject,
  createTeam,
  createUser,
  createWorkspace,
  grantWorkspace,
  inProject,
} from './world.ts'

const IS_DRAWN = `document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null`
const QUIET_MS = 50

/** The addresses of all pages, as web/routes.tsx declares them. A page with tabs has the address of its first tab. */
export function declaredAddresses(): string[] {
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
export function settling(page: Page): () => Promise<void> {
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

/**
 * Who opens the pages. The reader may read the outputs of the workspace, the member may do no more than every member,
 * the other two are in no organization, and one of them administrates the site.
 */
export const WHO = ['owner', 'reader', 'member', 'outsider', 'administrator'] as const

/** What the parameters of the addresses stand for. */
export type PageWorld = Readonly<Record<string, string>> & { readonly workspaceId: string }

/** Makes what every page can show, and those who open the pages. */
export async function makePageWorld(pages: Pages): Promise<PageWorld> {
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
  return {
    organization: organization.name,
    workspace: 'database',
    workspaceId,
    project,
    team,
    person: plain.membershipId,
    plain: plain.username,
  }
}

/** The address of a page, with what its parameters stand for. */
export const addressIn = (pages: Pages, world: PageWorld, path: string): string =>
  `${pages.server.address}/app${path.replaceAll(/\$(\w+)/g, (_, name: string) => world[name] ?? name)}`
