import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createProject, createWorkspace } from '../support/world.ts'

const HOSTILE = `"><img src=x onerror="document.title='ran'">`

describe('the pages of tags and of the lifetimes of tokens', () => {
  const pages = usePages()
  let workspaceId: string
  beforeAll(async () => {
    const { organization } = pages
    const projectId = await createProject(organization, { name: 'network' })
    const project = { data: { type: 'projects', id: projectId } }
    workspaceId = await createWorkspace(organization, { name: 'vpc' }, { project })
  })

  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })

  test('set, change and remove tags, of a project too, whose workspaces have them', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    const set = async (key: string, value: string) => {
      await page.getByLabel('Key of the tag').fill(key)
      await page.getByLabel('Value of the tag').fill(value)
      await page.keyboard.press('Enter')
      await rowOf(tab, key).getByText(value, { exact: true }).waitFor()
      expect(await page.getByLabel('Key of the tag').inputValue()).toBe('')
    }
    await page.goto(`${pages.address}/projects`)
    await page.getByRole('link', { name: 'network' }).click()
    await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Settings' }).click()
    await page.getByText('No tags yet.').waitFor()
    await set('region', 'eu-1')
    await expectWellMade(tab)

    await page.goto(`${pages.address}/workspaces/vpc/settings`)
    await rowOf(tab, 'region').getByText('the project').waitFor()
    expect(await rowOf(tab, 'region').getByRole('button').count()).toBe(0)
    await set('team', 'apps')
    await set('team', 'platform')
    await set('hostile', HOSTILE)
    expect(await page.title()).not.toBe('ran')
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Remove the tag team' }).click()
    await rowOf(tab, 'team').waitFor({ state: 'detached' })
    const { json } = await pages.organization.owner.client.get(`/workspaces/${workspaceId}/tag-bindings`)
    expect(json.data.map(({ attributes }: { attributes: object }) => attributes)).toMatchObject([
      { key: 'hostile', value: HOSTILE },
    ])
    expect(tab.complaints).toEqual([])
  })

  test('set how long tokens may live, and put that in force', async () => {
    const { name, owner } = pages.organization
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/general`)
    const ofTeams = page.getByLabel('Days that tokens of teams may live')
    await expect.poll(() => ofTeams.inputValue()).toBe('730')
    await ofTeams.fill('0.5')
    await page.getByLabel('the lifetimes are in force').check()
    await page.getByRole('button', { name: 'Save the lifetimes' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await expectWellMade(tab)
    const policies = async () =>
      Object.fromEntries(
        (await owner.client.get(`/organizations/${name}/token-ttl-policies`)).json.data.map(
          ({ attributes }: { attributes: Record<string, unknown> }) => [
            attributes['token-type'],
            attributes['max-ttl-ms'],
          ],
        ),
      )
    const isInForce = async () =>
      (await owner.client.get(`/organizations/${name}`)).json.data.attributes['max-ttl-enabled']
    expect(await policies()).toMatchObject({ team: 43_200_000, user: 63_072_000_000 })
    expect(await isInForce()).toBe(true)

    await ofTeams.fill('0')
    await page.getByRole('button', { name: 'Save the lifetimes' }).click()
    // The browser names the field, in days.
    await page.locator('input:invalid:focus').waitFor()
    await expectWellMade(tab)
    await ofTeams.fill('30')
    await page.getByLabel('the lifetimes are in force').uncheck()
    await page.getByRole('button', { name: 'Save the lifetimes' }).click()
    await expect.poll(isInForce).toBe(false)
    expect(await policies()).toMatchObject({ team: 2_592_000_000 })
  })
})
