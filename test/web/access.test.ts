import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, linkOf, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import {
  addMember,
  createProject,
  createTeam,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  type Member,
} from '../support/world.ts'

describe('the pages about access', () => {
  const pages = usePages()
  let workspaceId: string
  let rosa: Member
  beforeAll(async () => {
    const { organization, server } = pages
    const projectId = await createProject(organization, { name: 'shared' })
    const project = inProject(projectId)
    workspaceId = await createWorkspace(organization, { name: 'database' }, project)
    const apps = await createTeam(organization, { name: 'apps', visibility: 'organization' })
    rosa = await addMember(server, organization, [apps])
    await addMember(server, organization, [apps])
    await pages.add('rosa', rosa)
    const platform = await createTeam(organization, { name: 'platform' })
    await grantProject(organization, platform, projectId, { access: 'write' })
    const admins = await createTeam(organization, { name: 'admins' })
    await grantWorkspace(organization, admins, workspaceId, { access: 'admin' })
    await pages.add('admin', await addMember(server, organization, [admins]))
  })

  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
  const accessPage = () => `${pages.address}/workspaces/database/access`
  const levelOfRosa = async () => {
    const path = `/organizations/${pages.organization.name}/effective-access?user=${rosa.id}&workspace=${workspaceId}`
    const { json } = await pages.organization.owner.client.get(path)
    return json.data[0].attributes.level
  }

  test('show each grant on a workspace and on its project', async () => {
    const tab = await signIn('owner')
    await tab.page.goto(accessPage())
    await rowOf(tab, 'admins').getByText('a grant on the workspace').waitFor()
    await rowOf(tab, 'platform').getByText('a grant on the project shared').waitFor()
    expect(await rowOf(tab, 'platform').getByRole('button').count()).toBe(0)
    await expectWellMade(tab)
  })

  test('give a team outputs only, change it and take it away, each after its dry run', async () => {
    const tab = await signIn('admin')
    const { page } = tab
    await page.goto(accessPage())
    await page.getByRole('button', { name: 'Give access' }).click()
    await page.getByLabel('Find a team').fill('app')
    await page.getByRole('radio', { name: 'apps' }).check()
    await page.getByText('2 people gain read-outputs on the workspace database').waitFor()
    expect(await levelOfRosa()).toBe('none')
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf(tab, 'apps').getByText('read-outputs', { exact: true }).first().waitFor()
    expect(await levelOfRosa()).toBe('read-outputs')

    await page.getByRole('button', { name: 'Change the access of apps' }).click()
    await page.getByText('nobody’s access changes').waitFor()
    await page.getByRole('radio', { name: 'Write' }).check()
    await page.getByText('2 people go from read-outputs to write on the workspace database').waitFor()
    await page.getByText('Show each change').click()
    await page.getByText(`${rosa.username} on database: read-outputs → write`).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf(tab, 'apps').getByText('write', { exact: true }).first().waitFor()
    expect(await levelOfRosa()).toBe('write')

    await page.getByRole('button', { name: 'Change the access of apps' }).click()
    await page.getByRole('radio', { name: 'Custom' }).check()
    await page.getByRole('radio', { name: 'none' }).check()
    await page.getByRole('checkbox', { name: 'lock and unlock' }).check()
    await page.getByText('2 people go from write to custom').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await levelOfRosa()).toBe('write')

    await page.getByRole('button', { name: 'Take away the access of apps' }).click()
    const question = page.getByRole('group', { name: 'Take away the access of apps' })
    await question.getByText('2 people lose write on the workspace database').waitFor()
    await expectWellMade(tab)
    await question.getByRole('button', { name: 'Take away' }).click()
    await rowOf(tab, 'apps').waitFor({ state: 'detached' })
    expect(await levelOfRosa()).toBe('none')
  })

  test('give access with the keyboard alone', async () => {
    const tab = await signIn('admin')
    const { page } = tab
    await page.goto(accessPage())
    await page.getByRole('button', { name: 'Give access' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.type('apps')
    await page.getByRole('radio', { name: 'apps' }).waitFor()
    await page.getByRole('radio', { name: 'platform' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.getByText('2 people gain read on the workspace database').waitFor()
    await page.keyboard.press('Enter')
    await rowOf(tab, 'apps').waitFor()
    expect(await levelOfRosa()).toBe('read')
    await page.getByRole('button', { name: 'Take away the access of apps' }).click()
    await page.getByRole('button', { name: 'Take away', exact: true }).click()
    await rowOf(tab, 'apps').waitFor({ state: 'detached' })
  })

  test('say why somebody was refused, and lead to the grant that would have helped', async () => {
    const requestId = await refusalOf(rosa)
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(pages.address + '/workspaces')
    await page.getByRole('link', { name: 'Refusals' }).click()
    await page.getByLabel('Request id').fill(requestId)
    await page.keyboard.press('Enter')
    const notice = page.getByRole('region', { name: `Refusal ${requestId}` })
    await notice.getByText('Any one of these would have been enough').first().waitFor()
    expect(page.url()).toContain(`q=${requestId}`)
    await expectWellMade(tab)
    await notice.getByRole('link', { name: `What ${rosa.username} may do there now` }).click()
    await page.getByText('✗ may not read states').waitFor()
    await expectWellMade(tab)
    await page.goBack()
    await notice.getByRole('link', { name: 'Give access to the workspace' }).click()
    await page.getByRole('button', { name: 'Give access' }).waitFor()
  })

  test('say who may what on a workspace, found by name and by what they may do', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(accessPage())
    const holders = page.getByRole('region', { name: 'Who may do what here' })
    const admin = pages.usernameOf('admin')
    await holders.getByRole('rowheader', { name: admin }).waitFor()
    expect(await holders.getByRole('rowheader', { name: rosa.username }).count()).toBe(0)
    await expectWellMade(tab)
    await holders.getByLabel('Who may').selectOption({ label: 'delete or restore the content of states' })
    await holders.getByRole('rowheader', { name: admin }).waitFor({ state: 'detached' })
    await holders.getByText('1 found').waitFor()
    await holders.getByText('owner of the organization').waitFor()
    await holders.getByLabel('Who may').selectOption({ label: 'store states' })
    await holders.getByLabel('Show').selectOption({ label: 'teams, by their tokens' })
    await holders.getByRole('rowheader', { name: 'platform' }).waitFor()
    expect(page.url()).toMatch(/\/access\?may=write-state&who=teams$/)
    await page.goBack()
    await holders.getByRole('rowheader', { name: admin }).waitFor()
    await page.goForward()
    await page.reload()
    await holders.getByRole('rowheader', { name: 'platform' }).waitFor()
    await holders.getByLabel('Find by name').fill('admi')
    await holders.getByRole('rowheader', { name: 'platform' }).waitFor({ state: 'detached' })
    await holders.getByRole('link', { name: 'access admin on the workspace' }).click()
    await page.getByRole('heading', { name: 'admins' }).waitFor()
    await page.goBack()
    await holders.getByLabel('Find by name').fill('')
    await holders.getByLabel('Show').selectOption({ label: 'people' })
    await holders.getByRole('link', { name: admin }).click()
    await page.reload()
    await page.getByText(`${admin} has admin on database`).waitFor()
    await linkOf(page, 'Organization', 'Refusals').waitFor()
    expect(await page.getByRole('button', { name: 'Ask' }).count()).toBe(1)
    await page.getByLabel('Person: user name or id').fill('nobody-of-this-name')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('Check the names').waitFor()
  })

  test('say on a project, too, and to nobody who may not ask', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/projects`)
    await page.getByRole('link', { name: 'shared' }).click()
    await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Access' }).click()
    const holders = page.getByRole('region', { name: 'Who may do what here' })
    await holders.getByLabel('Show').selectOption({ label: 'teams, by their tokens' })
    await holders.getByLabel('Who may').selectOption({ label: 'in its workspaces: store states' })
    await holders.getByRole('rowheader', { name: 'platform' }).waitFor()
    await holders.getByRole('rowheader', { name: 'admins' }).waitFor({ state: 'detached' })
    await expectWellMade(tab)
    await holders.getByRole('link', { name: 'access write on the project' }).click()
    await page.getByRole('rowheader').getByRole('link', { name: 'shared' }).click()
    await page.getByRole('heading', { name: 'shared' }).waitFor()
    const other = await signIn('admin')
    await other.page.goto(accessPage())
    await other.page.getByRole('button', { name: 'Give access' }).waitFor()
    await other.page.getByRole('rowheader', { name: 'admins' }).waitFor()
    expect(await other.page.getByRole('region', { name: 'Who may do what here' }).count()).toBe(0)
    expect(await other.page.getByRole('link', { name: 'All access of' }).count()).toBe(0)
    await linkOf(other.page, 'Organization', 'Access').click()
    await other.page.getByText('owners may ask about everybody').waitFor()
    await other.page.getByRole('link', { name: 'What you may do' }).click()
    await other.page.getByText('has admin on database').waitFor()
  })

  test('answer about a team and a project, and say what would give the rest', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/access`)
    await page.getByLabel('Ask about').selectOption({ label: 'a team, by its token' })
    await page.getByLabel('Find a team').fill('platf')
    await page.getByRole('radio', { name: 'platform' }).check()
    await page.getByLabel(/^On/).selectOption({ label: 'a project' })
    await page.getByLabel('Which project').fill('shared')
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('The token of the team platform has write on shared').waitFor()
    expect(page.url()).toMatch(/team=team-.*project=shared|project=shared.*team=team-/)
    await page.getByText('✓ may in its workspaces: store states').waitFor()
    const asked = page.getByLabel('What would give this: change or delete the project?')
    await asked.click()
    await page.getByText('a team with access admin on the project shared').filter({ visible: true }).waitFor()
    await expectWellMade(tab)
  })

  test('answer what somebody may do and why, at an address that can be shared', async () => {
    const tab = await signIn('rosa')
    const { page } = tab
    await page.goto(`${pages.address}/access`)
    await page.getByLabel('Person: user name or id').fill(rosa.username)
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.getByText('There is no workspace that you may see.').waitFor()
    expect(page.url()).toContain(`user=${rosa.username}`)
    expect(await page.getByRole('link', { name: 'Refusals' }).count()).toBe(0)
    await page.goto(`${pages.address}/access?user=${pages.organization.owner.username}`)
    await page.getByText('Not there, or not for you').waitFor()
    await expectWellMade(tab)
  })

  const refusalOf = async ({ client }: Member) => {
    const refused = await client.get(`/workspaces/${workspaceId}/current-state-version`)
    expect(refused.status).toBe(404)
    await pages.server.app.deps.refusals.flush()
    return refused.headers.get('x-request-id') as string
  }
  const choose = async ({ page }: Tab, requestId: string) => {
    await page.goto(`${pages.address}/refusals?q=${requestId}`)
    const notice = page.getByRole('region', { name: `Refusal ${requestId}` })
    await notice.getByRole('button', { name: 'Choose what to give' }).click()
    return notice
  }

  test('give one of their teams what would have been enough, the least first, after its dry run', async () => {
    const requestId = await refusalOf(rosa)
    const tab = await signIn('owner')
    const notice = await choose(tab, requestId)
    const radios = notice.getByRole('radio')
    const least = `give the team apps access custom with state-versions: read on the workspace database`
    await notice.getByRole('radio', { name: least }).waitFor()
    await notice.getByRole('radio', { name: 'into the team platform, which has write' }).waitFor()
    const labels = (await notice.locator('fieldset label').allTextContents()).map((label) => label.trim())
    expect(labels).toEqual([
      least,
      'give the team apps access read on the workspace database',
      'give the team apps access custom with state-versions: read on the project shared',
      'give the team apps access read on the project shared',
      `put ${rosa.username} into the team platform, which has write there`,
      `put ${rosa.username} into the team admins, which has admin there`,
    ])
    expect(await notice.getByRole('button', { name: 'Give access' }).isDisabled()).toBe(true)
    await radios.first().check()
    await notice.getByText('2 people gain read on the workspace database').waitFor()
    expect(await levelOfRosa()).toBe('none')
    await expectWellMade(tab)
    await notice.getByRole('button', { name: 'Give access' }).click()
    await notice.getByText(`${rosa.username} can try again now`).waitFor()
    expect(await levelOfRosa()).toBe('read')
    const solved = await choose(tab, requestId)
    await solved.getByText(`${rosa.username} may do this by now`).waitFor()
    expect(await solved.getByRole('radio').count()).toBe(0)
  })

  test('change the grant that the team has, and put somebody into a team', async () => {
    const { organization, server } = pages
    const lockers = await createTeam(organization, { name: 'lockers' })
    await grantWorkspace(organization, lockers, workspaceId, { access: 'custom', 'workspace-locking': true })
    const lena = await addMember(server, organization, [lockers])
    const tab = await signIn('owner')
    let notice = await choose(tab, await refusalOf(lena))
    await notice
      .getByRole('radio', {
        name: 'give the team lockers access custom with state-versions: read on the workspace',
      })
      .check()
    await notice.getByText('1 person gains').waitFor()
    await notice.getByRole('button', { name: 'Give access' }).click()
    await notice.getByText('can try again now').waitFor()
    expect((await lena.client.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(200)
    await lena.client.post(`/workspaces/${workspaceId}/actions/unlock`)

    const tom = await addMember(server, organization)
    notice = await choose(tab, await refusalOf(tom))
    await notice.getByRole('radio', { name: 'into the team apps, which has read there' }).check()
    await notice.getByText('1 person gains read on the workspace database').waitFor()
    await notice.getByRole('button', { name: 'Give access' }).click()
    await notice.getByText('can try again now').waitFor()
    const { json } = await organization.owner.client.get(
      `/organizations/${organization.name}/effective-access?user=${tom.id}&workspace=${workspaceId}`,
    )
    expect(json.data[0].attributes.level).toBe('read')
  })
})
