import { beforeAll, describe, expect, test } from 'vitest'
import { Client } from '../support/client.ts'
import { expectWellMade, linkOf, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import {
  addMember,
  createTeam,
  createWorkspace,
  grantWorkspace,
  type Member,
  type Person,
} from '../support/world.ts'

describe('the pages of a team', () => {
  const pages = usePages()
  let platform: string
  let ben: Member
  let dora: Member
  beforeAll(async () => {
    const { organization, server } = pages
    platform = await createTeam(organization, { name: 'platform', visibility: 'organization' })
    const workspaceId = await createWorkspace(organization, { name: 'database' })
    await grantWorkspace(organization, platform, workspaceId, { access: 'write' })
    ben = await addMember(server, organization, [platform])
    dora = await addMember(server, organization)
    await pages.add('ben', ben)
    await pages.add('dora', dora)
  })

  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const teamPage = (tab = '') => `${pages.address}/settings/teams/${platform}${tab}`
  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
  const levelOf = async ({ id }: Person) => {
    const path = `/organizations/${pages.organization.name}/effective-access?user=${id}&workspace=database`
    return (await pages.organization.owner.client.get(path)).json.data[0].attributes.level
  }

  test('add several people and remove one, each after its dry run', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByRole('link', { name: 'platform' }).click()
    await rowOf(tab, ben.username).waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Add people' }).click()
    await page.getByLabel('Find people').fill(dora.username)
    await page.getByRole('checkbox', { name: ben.username, exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('checkbox', { name: dora.username, exact: true }).check()
    await page.getByText('1 person gains write on the workspace database').waitFor()
    expect(await levelOf(dora)).toBe('none')
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await rowOf(tab, dora.username).waitFor()
    expect(await levelOf(dora)).toBe('write')
    await page.getByRole('button', { name: `Remove ${dora.username}`, exact: true }).click()
    await page.getByText('1 person loses write on the workspace database').waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Remove from the team' }).click()
    await rowOf(tab, dora.username).waitFor({ state: 'detached' })
    expect(await levelOf(dora)).toBe('none')
  })

  test('put a person into a team with the keyboard alone', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(teamPage())
    await page.getByRole('button', { name: 'Add people' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type(dora.username)
    await page.getByRole('checkbox', { name: dora.username, exact: true }).waitFor()
    await page.getByRole('checkbox', { name: ben.username, exact: true }).waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.getByText('1 person gains write').waitFor()
    await page.keyboard.press('Enter')
    await rowOf(tab, dora.username).waitFor()
    await page.getByRole('button', { name: `Remove ${dora.username}`, exact: true }).click()
    await page.getByRole('button', { name: 'Remove from the team' }).click()
    await rowOf(tab, dora.username).waitFor({ state: 'detached' })
  })

  test('change permissions after a dry run, and refuse those that contradict each other', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(teamPage('/permissions'))
    await page.getByRole('checkbox', { name: /^manage-projects/ }).check()
    await page.getByText('1 person gains').waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Save permissions' }).click()
    await page.getByText('If you save this').waitFor({ state: 'detached' })
    expect(await page.getByRole('checkbox', { name: /^manage-workspaces/ }).isChecked()).toBe(true)
    expect(await levelOf(ben)).toBe('admin')
    await page.getByRole('checkbox', { name: /^manage-workspaces/ }).uncheck()
    await page.getByText('manage-workspaces cannot be false while manage-projects is true').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('checkbox', { name: /^manage-projects/ }).uncheck()
    await page.getByRole('checkbox', { name: /^manage-workspaces/ }).uncheck()
    await page.getByRole('checkbox', { name: /^read-workspaces/ }).uncheck()
    await page.getByText('1 person goes from admin to write on the workspace database').waitFor()
    await page.getByRole('button', { name: 'Save permissions' }).click()
    await page.getByText('If you save this').waitFor({ state: 'detached' })
    expect(await levelOf(ben)).toBe('write')
  })

  test('show a new token once, which works, and revoke it', async () => {
    const tab = await signIn('owner')
    const { page, context } = tab
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(teamPage())
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('No tokens. A pipeline needs one.').waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('What it is for').fill('the pipeline')
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('You will not see this token again').waitFor()
    await expectWellMade(tab)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Copy token' }).click()
    await page.getByText('Copied').waitFor()
    const token = await page.evaluate<string>('navigator.clipboard.readText()')
    const pipeline = new Client(pages.server.address, token)
    expect((await pipeline.get(`/teams/${platform}`)).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    await rowOf(tab, 'the pipeline').waitFor()
    expect(await page.content()).not.toContain(token)
    expect(
      await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage, location])'),
    ).not.toContain(token)
    await page.getByRole('button', { name: 'Revoke the pipeline' }).click()
    await page.getByRole('button', { name: 'Revoke for good the pipeline' }).click()
    await rowOf(tab, 'the pipeline').waitFor({ state: 'detached' })
    expect((await pipeline.get(`/teams/${platform}`)).status).toBe(401)
  })

  test('create a team, rename it, and delete it after its name is typed', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByText('New team').click()
    await page.getByLabel('Name', { exact: true }).fill('platform')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('short-lived')
    await page.getByRole('checkbox', { name: /^secret/ }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Nobody is in this team yet').waitFor()
    await page.getByText('secret').waitFor()
    await linkOf(page, 'Team', 'Settings').click()
    await page.getByLabel('Name', { exact: true }).fill('renamed')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'renamed' }).waitFor()
    await page.getByLabel('SSO team id').fill('idp-group-7')
    await page.getByRole('checkbox', { name: /may make and revoke/ }).uncheck()
    await page.getByRole('button', { name: 'Save' }).click()
    const { client } = pages.organization.owner
    await expect
      .poll(async () => {
        const { data } = (await client.get(`/organizations/${pages.organization.name}/teams?q=renamed`)).json
        return [data[0].attributes['sso-team-id'], data[0].attributes['allow-member-token-management']]
      })
      .toEqual(['idp-group-7', false])
    await page.getByRole('button', { name: 'Delete the team …' }).click()
    await page.getByText('If you delete it').waitFor()
    await expectWellMade(tab)
    expect(await page.getByRole('button', { name: 'Delete for good' }).isDisabled()).toBe(true)
    await page.getByLabel('Type renamed to delete it').fill('renamed')
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByRole('heading', { name: 'Teams' }).waitFor()
    await page.getByRole('link', { name: 'platform' }).waitFor()
    expect(await page.getByRole('link', { name: 'renamed' }).count()).toBe(0)
  })

  test('show what a team may do where, and a member nothing to change', async () => {
    const tab = await signIn('ben')
    const { page } = tab
    await page.goto(teamPage('/access'))
    await rowOf(tab, 'database').getByText('write', { exact: true }).waitFor()
    await expectWellMade(tab)
    await page.getByRole('link', { name: 'Permissions' }).click()
    await page.getByText('An owner may change these').waitFor()
    expect(await page.getByRole('checkbox', { name: /^manage-projects/ }).isDisabled()).toBe(true)
    await expectWellMade(tab)
    await page.getByRole('link', { name: 'Members' }).click()
    await rowOf(tab, ben.username).waitFor()
    expect(await page.getByRole('button', { name: 'Add people' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  })
})
