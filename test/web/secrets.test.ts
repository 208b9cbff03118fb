import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '../../src/operation/log.ts'
import { Browser, passwordLink } from '../support/browser.ts'
import { CHROMIUM } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { createTeam, createWorkspace } from '../support/world.ts'

const PASSWORD = 'only-this-password-of-the-test'
const REVEALED = 'only-this-sensitive-value-of-the-test'
const outputs = JSON.stringify({ password: { value: REVEALED, type: 'string', sensitive: true } })

/** Everything that a page can keep, as text. */
const KEPT = `(async () => JSON.stringify({
  local: { ...localStorage },
  session: { ...sessionStorage },
  cookies: document.cookie,
  databases: await indexedDB.databases(),
  caches: await Promise.all((await caches.keys()).map(async (name) =>
    [name, (await (await caches.open(name)).keys()).map(({ url }) => url)])),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  history: [history.state, ...navigation.entries().map(({ url }) => url)],
  title: document.title,
  name: window.name,
  page: document.documentElement.outerHTML,
}))()`

describe('a secret', () => {
  let team: string
  let link: string
  let logged = ''
  const log = createLog('trace', { write: (line: string) => void (logged += line) })
  const pages = usePages(log)
  let context: BrowserContext
  const secrets: Record<string, string> = {}
  /** Where the browser keeps its profile, and the addresses that it asked for. */
  const profile = mkdtempSync(join(tmpdir(), 'purser-profile-'))
  const addresses: string[] = []
  /** Answers of the interface that caches may keep and give to others. */
  const cacheable: string[] = []

  beforeAll(async () => {
    const { organization, server } = pages
    await createState(organization, outputs, await createWorkspace(organization, { name: 'database' }))
    team = await createTeam(organization, { name: 'pipelines' })
    link = await passwordLink(server.admin, organization.owner.id)
    Object.assign(secrets, { link, password: PASSWORD, revealed: REVEALED })
    context = await chromium.launchPersistentContext(profile, { executablePath: CHROMIUM })
    context.on('request', (request) => addresses.push(request.url(), request.headers().referer ?? ''))
    context.on('response', (response) => {
      // A page of the server is the same for everybody; whatever the interface answers to is not.
      if (!response.url().includes('/api/')) return
      const keeps = response.headers()['cache-control'] ?? ''
      if (!/no-store|private, no-cache/.test(keeps)) cacheable.push(`${response.url()} ${keeps}`)
    })
  })
  afterAll(() => rmSync(profile, { recursive: true, force: true }))

  /** The secrets whose text is in this text, by their names. */
  const foundIn = (text: string) =>
    Object.keys(secrets).filter((name) => text.includes(secrets[name] ?? name))

  /** Does everything that has a secret, and signs out. Looks at what the page keeps in between. */
  const walk = async (page: Page) => {
    await page.goto(`${pages.server.address}/app/~/welcome#${link}`)
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('New password, again').fill(PASSWORD)
    await page.getByRole('button').click()
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('User name or email').fill(pages.usernameOf('owner'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    const cookies = await context.cookies()
    secrets.cookie = cookies.find(({ name }) => name === 'purser-session')?.value ?? ''

    await page.goto(`${pages.address}/workspaces/database`)
    await page.getByRole('button', { name: 'Reveal password' }).click()
    await page.getByText(REVEALED).waitFor()
    await page.getByRole('button', { name: 'Hide password' }).click()
    await page.getByRole('button', { name: 'Copy password' }).click()
    await page.getByRole('button', { name: 'Copied password' }).waitFor()
    expect(foundIn(await page.evaluate<string>(KEPT))).toEqual([])

    for (const address of [
      `${pages.address}/settings/teams/${team}/tokens`,
      `${pages.server.address}/app/settings/tokens`,
    ]) {
      await page.goto(address)
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('What it is for').fill('the test')
      await page.getByRole('button', { name: 'Create' }).click()
      const token = await page.getByLabel('Token', { exact: true }).inputValue()
      expect(token.length).toBeGreaterThan(20)
      secrets[`token made at ${address}`] = token
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('rowheader', { name: 'the test' }).waitFor()
      expect(foundIn(await page.evaluate<string>(KEPT))).toEqual([])
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    expect(foundIn(await page.evaluate<string>(KEPT))).toEqual([])
  }

  test('is in no address, storage, cache, history or log, and not in what the browser keeps on its disk', async () => {
    const page = await context.newPage()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await walk(page)
    await context.close()
    expect(Object.keys(secrets)).toHaveLength(6)

    expect(addresses.filter((address) => foundIn(address).length > 0)).toEqual([])
    expect(cacheable).toEqual([])
    expect(logged).toContain('/api/v2/sessions')
    expect(foundIn(logged)).toEqual([])
    // Browsers note each link that is opened, so its secret works once.
    const again = await new Browser(pages.server.address).signIn({ link, password: PASSWORD })
    expect(again.status, again.text).toBe(401)
    delete secrets.link
    const kept = readdirSync(profile, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    expect(kept.length).toBeGreaterThan(20)
    const withSecrets = kept.flatMap(({ parentPath, name }) =>
      foundIn(readFileSync(join(parentPath, name), 'latin1')).map((secret) => `${secret} in ${name}`),
    )
    expect(withSecrets).toEqual([])
  })
})
