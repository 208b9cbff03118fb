import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { passwordLink, Browser } from '../support/browser.ts'
import { expectWellMade, useChromium, type Tab } from '../support/chromium.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { createState } from '../support/states.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  grantWorkspace,
  uniqueName,
  type TestOrganization,
} from '../support/world.ts'

const PASSWORD = 'correct horse battery'
const WEIGHT_OF_PLACE = `getComputedStyle(document.querySelector('nav [aria-current=page]')).fontWeight`
const HOSTILE = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script>`
const outputs = JSON.stringify({
  address: { value: 'db.internal.example', type: 'string' },
  hostile: { value: HOSTILE, type: 'string' },
  password: { value: 's3cret', type: 'string', sensitive: true },
}).replace('{', '{"cluster_id": {"value": 90071992547409931.50, "type": "number"},')

describe('the pages', () => {
  let server: TestServer
  let organization: TestOrganization
  let workspaceName: string
  const logins: Record<string, string> = {}
  const open = useChromium()
  beforeAll(async () => {
    server = await startServer('sqlite')
    organization = await createTestOrganization(server)
    const { workspaceId } = await createState(organization, outputs)
    const { client } = organization.owner
    workspaceName = (await client.get(`/workspaces/${workspaceId}`)).json.data.attributes.name
    const readers = await createTeam(organization, { name: 'readers' })
    await createTeam(organization, { name: 'network', visibility: 'organization' })
    await grantWorkspace(organization, readers, workspaceId, { access: 'read' })
    const people = {
      owner: organization.owner,
      reader: await addMember(server, organization, [readers]),
      plain: await addMember(server, organization),
    }
    for (const [name, { id, username }] of Object.entries(people)) {
      const link = await passwordLink(server.admin, id)
      await new Browser(server.address).signIn({ link, password: PASSWORD })
      logins[name] = username
    }
  })
  afterAll(() => server.stop())

  const signIn = async (who: string): Promise<Tab> => {
    const tab = await open()
    await tab.page.goto(`${server.address}/app`)
    await tab.page.getByLabel('User name or email').fill(logins[who] as string)
    await tab.page.getByLabel('Password').fill(PASSWORD)
    await tab.page.getByRole('button', { name: 'Sign in' }).click()
    await tab.page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    return tab
  }
  test('sign somebody in, in the words of the server if that fails, and out', async () => {
    const tab = await open()
    const { page } = tab
    await page.goto(`${server.address}/app/${organization.name}/settings/teams`)
    await page.getByText('purser user password-link').waitFor()
    await page.getByLabel('User name or email').fill(logins.owner as string)
    await page.getByLabel('Password').fill('wrong horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('the user name, email or password is wrong').waitFor()
    await expectWellMade(tab)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Teams' }).waitFor()
    await expect.poll(() => page.title()).toBe(`Teams · ${organization.name} · Purser`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    expect(await page.title()).toBe('Sign in · Purser')
    await page.goto(`${server.address}/app`)
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('say what they need where there are no scripts', async () => {
    const { context } = await open()
    const bare = await context.browser()?.newContext({ javaScriptEnabled: false })
    const page = await bare?.newPage()
    await page?.goto(`${server.address}/app`)
    expect(await page?.locator('body').innerText()).toContain('need JavaScript')
    await bare?.close()
  })

  test('have an icon, so that browsers do not ask for a missing one, which would be a refusal', async () => {
    const shell = await (await fetch(`${server.address}/app`)).text()
    const [, icon = ''] = /<link rel="icon" href="(.*?)"/.exec(shell) ?? []
    const answer = await fetch(new URL(icon, server.address))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  })

  test('set a password with a link, which leaves the address at once', async () => {
    const { id } = organization.owner
    const tab = await open()
    const { page } = tab
    await page.goto(`${server.address}/app/~/welcome#${await passwordLink(server.admin, id)}`)
    // Whose password it is, and what it must be.
    await page.getByText(`For ${organization.owner.username} (${organization.owner.email}).`).waitFor()
    await page.getByText('At least 8 characters').waitFor()
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    expect(page.url()).toBe(`${server.address}/app/~/welcome`)
    await page.getByLabel('New password, again').fill('another')
    await page.getByRole('button').click()
    await page.getByRole('alert').getByText('is not the same').waitFor()
    await expectWellMade(tab)
    await page.getByLabel('New password, again').fill(PASSWORD)
    await page.getByRole('button').click()
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    await expectWellMade(tab)
  })

  test('take a link that is opened in the tab of one that was cut off or has ended', async () => {
    const { id } = organization.owner
    const ended = await passwordLink(server.admin, id)
    const link = await passwordLink(server.admin, id)
    const tab = await open()
    const { page } = tab
    await page.goto(`${server.address}/app/~/welcome`)
    await page.getByText('needs the rest of its link').waitFor()
    for (const secret of [ended, link]) {
      await page.goto(`${server.address}/app/~/welcome#${secret}`)
      await expect.poll(() => page.url()).toBe(`${server.address}/app/~/welcome`)
      if (secret === ended) {
        // Before anybody has typed a password.
        await page.getByText('the link was used, replaced or has expired').waitFor()
      }
      await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
      await page.getByLabel('New password, again').fill(PASSWORD)
      await page.getByRole('button').click()
      if (secret === ended) await page.getByText('the link was used, replaced or has expired').waitFor()
    }
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    expect(tab.complaints).toEqual([])
  })

  test('say so where a caller may not see something', async () => {
    const tab = await signIn('plain')
    await tab.page.goto(`${server.address}/app/${organization.name}/workspaces/${workspaceName}`)
    await tab.page.getByText('Not there, or not for you').waitFor()
    await expectWellMade(tab)
  })

  test('find teams as people type, with an address that can be shared', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${server.address}/app/${organization.name}/settings/teams`)
    await page.getByRole('cell', { name: 'readers' }).waitFor()
    await page.getByLabel('Find a team').fill('net')
    await page.getByRole('cell', { name: 'readers' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('cell', { name: 'network' }).count()).toBe(1)
    expect(page.url()).toContain('?q=net')
    expect(await page.evaluate(WEIGHT_OF_PLACE)).toBe('600')
    await expectWellMade(tab)
    await page.getByLabel('Find a team').fill(uniqueName('no'))
    await page.getByText('No team matches').waitFor()
    await expectWellMade(tab)
  })
})
