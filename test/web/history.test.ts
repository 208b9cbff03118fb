import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { linkOf } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { base64, createState, lock, postState, stateText } from '../support/states.ts'
import { addMember, createTeam, createWorkspace, grantWorkspace } from '../support/world.ts'

const VERSIONS = 25
const outputs = (serial: number) => JSON.stringify({ address: { value: `host-${serial}`, type: 'string' } })

describe('a history of several pages', () => {
  const pages = usePages()
  let workspaceId: string
  beforeAll(async () => {
    workspaceId = await createWorkspace(pages.organization, { name: 'database' })
    await createState(pages.organization, outputs(1), workspaceId)
    for (let serial = 2; serial <= VERSIONS; serial += 1) await store(serial)
  })

  const store = async (serial: number) => {
    const { client } = pages.organization.owner
    await lock(client, workspaceId)
    const state = stateText(outputs(serial), serial)
    const made = await postState(client, workspaceId, state, { state: base64(state) })
    expect(made.status, made.text).toBe(201)
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
  }
  const openHistory = async (more = ''): Promise<Page> => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/database/states${more}`)
    await page.getByRole('columnheader', { name: 'Serial' }).waitFor()
    return page
  }
  const serial = (page: Page, number: number) => page.getByRole('link', { name: String(number), exact: true })

  test('is shown to somebody who came by the id of the workspace', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/${workspaceId}`)
    await linkOf(page, 'Workspace', 'History').click()
    await serial(page, VERSIONS).or(page.getByRole('alert')).first().waitFor()
    expect(await page.getByRole('alert').allInnerTexts()).toEqual([])
    for (const time of [page.locator('td time').first(), page.getByText('changed').locator('time')]) {
      expect(await time.textContent()).toMatch(/ago$|^now$/)
      // With the time zone.
      expect(await time.getAttribute('title')).toMatch(/[AP]M [A-Z]/)
    }
  })

  test('says which state has outputs that cannot be read, and so does the page of the workspace', async () => {
    const { client } = pages.organization.owner
    const id = await createWorkspace(pages.organization, { name: 'sealed' })
    await lock(client, id)
    const state = '{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}'
    expect((await postState(client, id, state, { state: base64(state) })).status).toBe(201)
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/sealed`)
    await page
      .getByText('OpenTofu has encrypted its state, and the upload had no json-state-outputs')
      .waitFor()
    await linkOf(page, 'Workspace', 'History').click()
    await page.getByText('encrypted, outputs cannot be read').waitFor()
  })

  test('stays on its page when a version is chosen, and rolls back to it', async () => {
    const page = await openHistory()
    await page.getByRole('button', { name: 'Next' }).click()
    // The first one of the page is no more current than the others.
    await serial(page, 5).click()
    await page.getByText('0 added · 1 changed').waitFor()
    expect(await serial(page, 5).count()).toBe(1)
    await page.getByRole('heading', { name: 'Outputs of serial 5' }).waitFor()
    const button = page.getByRole('button', { name: 'Roll back to serial 5 …' })
    expect(await button.count()).toBe(1)
    await button.click()
    const asked = page.getByRole('group', { name: 'Roll back to serial 5' })
    await asked.getByRole('row', { name: 'host-5' }).waitFor()
    expect(await asked.getByRole('row', { name: 'host-5' }).innerText()).toContain(`host-${VERSIONS}`)
    await asked.getByRole('button', { name: 'Roll back to serial 5' }).click()
    await asked.waitFor({ state: 'detached' })
    const current = await pages.organization.owner.client.get(
      `/workspaces/${workspaceId}/current-state-version-outputs`,
    )
    expect(current.json.data[0].attributes.value).toBe('host-5')
  })

  test('shows a reader of outputs what changed, and offers no download', async () => {
    const { organization, server } = pages
    const team = await createTeam(organization)
    const access = { access: 'custom', 'state-versions': 'read-outputs' }
    await grantWorkspace(organization, team, workspaceId, access)
    await pages.add('reader', await addMember(server, organization, [team]))
    const { page, complaints } = await pages.signIn('reader')
    await page.goto(`${pages.address}/workspaces/database`)
    const line = page.getByText('State version with')
    await line.getByText(`by ${pages.usernameOf('owner')}`).waitFor()
    await line.getByRole('link').click()
    await page.getByText('0 added · 1 changed').waitFor()
    await page.getByText('Teams with the access read or more may download states.').waitFor()
    expect(await page.getByRole('link', { name: 'Download' }).count()).toBe(0)
    await serial(page, 5).or(serial(page, VERSIONS)).first().waitFor()
    expect(await page.getByRole('button', { name: /^Roll back/ }).count()).toBe(0)
    expect(complaints).toEqual([])
    const refusals = await organization.owner.client.get(`/organizations/${organization.name}/refusals`)
    expect(refusals.json.data).toEqual([])
  })
})
