import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import {
  addMember,
  body,
  createProject,
  createTeam,
  createUser,
  createWorkspace,
  grantProject,
  grantWorkspace,
  inProject,
  type Member,
} from '../support/world.ts'

describe('the pages say what ends before it ends', () => {
  const pages = usePages()
  let workspace: string
  let shared: string
  let rosa: Member
  beforeAll(async () => {
    const { organization, server } = pages
    shared = await createProject(organization, { name: 'shared' })
    workspace = await createWorkspace(organization, { name: 'database' }, inProject(shared))
    await createProject(organization, { name: 'private' })
    const apps = await createTeam(organization, { name: 'apps' })
    const platform = await createTeam(organization, { name: 'platform' })
    await grantWorkspace(organization, apps, workspace, { access: 'read' })
    await grantProject(organization, platform, shared, { access: 'write' })
    rosa = await addMember(server, organization, [apps])
    await addMember(server, organization, [platform])
    await addMember(server, organization, [platform])
    const admin = await createUser(server, 'admin')
    await server.admin.post(`/admin/users/${admin.id}/actions/grant_admin`)
    await pages.add('administrator', admin)
  })

  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const ofRosa = async () => (await rosa.client.get(`/workspaces/${workspace}`)).status

  test('of a user who is suspended', async () => {
    const tab = await signIn('administrator')
    const { page } = tab
    await page.getByRole('link', { name: 'Administration' }).click()
    await page.getByLabel('Find users').fill(rosa.username)
    await page.getByRole('button', { name: `Suspend … (${rosa.username})` }).click()
    const asked = page.getByRole('group', { name: `Suspend: ${rosa.username}` })
    await asked.getByText('If you suspend them, as of now:').waitFor()
    await asked.getByText('1 person loses read on the workspace database').waitFor()
    await asked.getByText('Show each change').click()
    await asked.getByText(`${rosa.username} on database: read → none`).waitFor()
    await expectWellMade(tab)
    expect(await ofRosa()).toBe(200)
    await page.getByRole('button', { name: 'Suspend', exact: true }).click()
    await page.getByRole('button', { name: `End the suspension (${rosa.username})` }).click()
    await page.getByRole('button', { name: `Suspend … (${rosa.username})` }).waitFor()

    await page.getByLabel('Find users').fill(pages.usernameOf('administrator'))
    await page.getByRole('button', { name: `Suspend … (${pages.usernameOf('administrator')})` }).click()
    await page.getByText('They lose what they may do as an administrator, too.').waitFor()
    await page.getByText('If you suspend them, they lose no access in any organization.').waitFor()
  })

  test('of a user who is deleted', async () => {
    const { organization, server } = pages
    const team = await createTeam(organization, { name: 'leavers' })
    await grantProject(organization, team, shared, { access: 'read' })
    const leaver = await addMember(server, organization, [team])
    const tab = await signIn('administrator')
    const { page } = tab
    await page.goto(`${server.address}/app/~/admin/users?q=${leaver.username}`)
    await page.getByRole('button', { name: `Delete the user ${leaver.username} …` }).click()
    const asked = page.getByRole('group', { name: `Delete the user ${leaver.username}` })
    await asked.getByText('If you delete them, as of now:').waitFor()
    await asked.getByText('1 person loses read on the project shared').waitFor()
    await expectWellMade(tab)
    const deletion = asked.getByRole('button', { name: 'Delete for good' })
    expect(await deletion.isDisabled()).toBe(true)
    await asked.getByLabel(`Type ${leaver.username}`).fill(leaver.username)
    await deletion.click()
    await page.getByText(`Nobody matches “${leaver.username}”.`).waitFor()
    expect((await leaver.client.get('/account/details')).status).toBe(401)
    await page.goto(`${server.address}/app/~/admin/users?q=${pages.usernameOf('administrator')}`)
    await page.getByText('(you)').waitFor()
    expect(await page.getByRole('button', { name: 'Delete the user' }).count()).toBe(0)
  })

  test('of a member whose team tokens can end with the membership', async () => {
    const { organization, server } = pages
    const team = await createTeam(organization, { name: 'keepers', 'allow-member-token-management': true })
    const leaver = await addMember(server, organization, [team])
    const path = `/teams/${team}/authentication-tokens`
    const made = await leaver.client.post(
      path,
      body('authentication-tokens', { description: 'kept by them' }),
    )
    const token = server.client(made.json.data.attributes.token)
    expect((await token.get('/account/details')).status).toBe(200)
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/people?q=${leaver.username}`)
    await page.getByRole('button', { name: `Remove ${leaver.username} …` }).click()
    await page.getByText(`kept by them: of the team keepers of ${organization.name}`).waitFor()
    await page.getByLabel('end these tokens, too').check()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Remove from the organization' }).click()
    await page.getByText('Nobody matches').waitFor()
    expect((await token.get('/account/details')).status).toBe(401)
  })

  test('of a workspace that moves', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/database/settings`)
    await page.getByRole('button', { name: 'Move …' }).click()
    await page.getByRole('radio', { name: 'private' }).check()
    await page.getByText('2 people lose write on the workspace database').waitFor()
    await page.getByText('the tokens of the team platform lose write on the workspace database').waitFor()
    await expectWellMade(tab)
    await page.getByRole('radio', { name: 'shared' }).check()
    await page.getByText('If you save this, nobody’s access changes.').waitFor()
    await page.getByRole('radio', { name: 'private' }).check()
    await page.getByText('2 people lose write on the workspace database').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Project: private').waitFor()
  })

  test('of a workspace that is deleted, in both ways', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/database/settings`)
    for (const what of ['the workspace if it manages no resources', 'the workspace']) {
      await page.getByRole('button', { name: `Delete ${what} …`, exact: true }).click()
      const asked = page.getByRole('group', { name: `Delete ${what}`, exact: true })
      await asked.getByText('If you delete it, as of now:').waitFor()
      await asked.getByText('1 person loses read on the workspace database').waitFor()
      await asked.getByText('They are not listed.').waitFor()
    }
    await expectWellMade(tab)
    expect(await ofRosa()).toBe(200)
    const asked = page.getByRole('group', { name: 'Delete the workspace', exact: true })
    await asked.getByLabel('Type database to delete it').fill('database')
    await asked.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('No workspaces yet').waitFor()
    expect(await ofRosa()).toBe(404)
  })

  test('of a project that is deleted, or why it is not', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    const busy = await createProject(pages.organization, { name: 'busy' })
    await createWorkspace(pages.organization, {}, inProject(busy))
    await page.goto(`${pages.address}/projects/${busy}/settings`)
    await page.getByRole('button', { name: 'Delete the project …' }).click()
    await page.getByText('the project holds workspaces').first().waitFor()

    await page.goto(`${pages.address}/projects/${shared}/settings`)
    await page.getByRole('button', { name: 'Delete the project …' }).click()
    await page.getByText('2 people lose write on the project shared').waitFor()
    await expectWellMade(tab)
    await page.getByLabel('Type shared to delete it').fill('shared')
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
  })

  test('of somebody who is removed, and asks nothing about them afterwards', async () => {
    const { organization } = pages
    const kept = await createWorkspace(organization, { name: 'kept' })
    const readers = await createTeam(organization, { name: 'readers' })
    await grantWorkspace(organization, readers, kept, { access: 'write' })
    const { client } = organization.owner
    const joining = { data: [{ type: 'users', id: rosa.id }] }
    await client.post(`/teams/${readers}/relationships/users`, joining)
    const tab = await signIn('owner')
    const { page } = tab
    const dryRuns: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('dry-run')) dryRuns.push(request.url())
    })
    await page.goto(`${pages.address}/people`)
    await page.getByLabel('Find people').fill(rosa.username)
    await page.getByRole('button', { name: `Remove ${rosa.username} …` }).click()
    const asked = page.getByRole('group', { name: `Remove ${rosa.username}` })
    await asked.getByText('If you remove them, as of now:').waitFor()
    await asked.getByText('1 person loses write on the workspace kept').waitFor()
    await expectWellMade(tab)
    expect((await rosa.client.get(`/workspaces/${kept}`)).status).toBe(200)
    await asked.getByRole('button', { name: 'Remove from the organization' }).click()
    await page.getByText('Nobody matches').waitFor()
    // Another one would be a 404, which is kept as a refusal.
    expect(dryRuns).toHaveLength(1)
  })
})
