import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, linkOf, type Tab } from '../support/chromium.ts'
import { PASSWORD, usePages } from '../support/pages.ts'
import { createState, lock } from '../support/states.ts'
import {
  addMember,
  createTeam,
  createUser,
  createWorkspace,
  grantWorkspace,
  invitePerson,
  uniqueName,
} from '../support/world.ts'

describe('the pages that manage', () => {
  const pages = usePages()
  beforeAll(async () => {
    const { organization, server } = pages
    await createTeam(organization, { name: 'apps', visibility: 'organization' })
    const auditors = await createTeam(organization, { name: 'auditors' })
    await pages.add('auditor', await addMember(server, organization, [auditors]))
    const admin = await createUser(server, 'admin')
    await server.admin.post(`/admin/users/${admin.id}/actions/grant_admin`)
    await pages.add('administrator', admin)
  })

  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })

  test('make a project and a workspace in it, give a team access, move the workspace, delete both', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'Projects' }).click()
    await page.getByText('Default Project').waitFor()
    await page.getByText('New project').click()
    await page.getByLabel('Name', { exact: true }).fill('network')
    await page.getByLabel('Description').fill('what all others need')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'network' }).waitFor()
    await page.getByText('No workspaces in this project').waitFor()
    await expectWellMade(tab)

    await linkOf(page, 'Project', 'Access').click()
    await page.getByRole('button', { name: 'Give access' }).click()
    await page.getByRole('radio', { name: 'apps' }).check()
    await page.getByRole('radio', { name: 'Maintain' }).check()
    await page.getByText(/If you save this/).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf(tab, 'apps').getByText('maintain').waitFor()
    await page.getByRole('button', { name: 'Change the access of apps' }).click()
    await page.getByRole('radio', { name: 'Outputs only' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await rowOf(tab, 'apps').getByText('read-outputs').waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Take away the access of apps' }).click()
    await page.getByRole('button', { name: 'Take away', exact: true }).click()
    await page.getByText('You can see no grant here').waitFor()

    await linkOf(page, 'Organization', 'Workspaces').click()
    await page.getByText('New workspace').click()
    await page.getByLabel('Name', { exact: true }).fill('vpc')
    await page.getByLabel('Find a project').fill('net')
    await page.getByRole('radio', { name: 'network' }).check()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'vpc' }).waitFor()

    await linkOf(page, 'Workspace', 'Settings').click()
    await page.getByText('Project: network').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('vpc-1')
    await page.getByRole('button', { name: 'Move …' }).click()
    await page.getByRole('radio', { name: 'Default Project' }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'vpc-1' }).waitFor()
    await page.getByText('Project: Default Project').waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Delete the workspace if it manages no resources …' }).click()
    await page.getByLabel('Type vpc-1 to delete it').fill('vpc-1')
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('No workspaces yet').waitFor()

    await page.getByRole('link', { name: 'Projects' }).click()
    await page.getByRole('link', { name: 'network' }).click()
    await linkOf(page, 'Project', 'Settings').click()
    await page.getByLabel('Description').fill('renamed')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('renamed', { exact: true }).first().waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Delete the project …' }).click()
    await page.getByLabel('Type network to delete it').fill('network')
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await page.getByRole('link', { name: 'network' }).waitFor({ state: 'detached' })
  })

  test('say why a workspace is not deleted', async () => {
    const { organization } = pages
    const { client } = organization.owner
    const name = uniqueName('busy')
    const workspaceId = await createWorkspace(organization, { name })
    await lock(client, workspaceId)
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/${name}/settings`)
    await page.getByRole('button', { name: 'Delete the workspace if it manages no resources …' }).click()
    await page.getByLabel(`Type ${name} to delete it`).fill(name)
    await page.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('the workspace is locked').first().waitFor()
    expect((await client.get(`/workspaces/${workspaceId}`)).status).toBe(200)
  })

  test('change the rules of an organization, and make and revoke its token', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/general`)
    await page.getByLabel('Email of its owners').fill('new@example.com')
    await page.getByLabel(/owners delegate teams/).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const { client } = pages.organization.owner
    await expect
      .poll(async () => (await client.get(`/organizations/${pages.organization.name}`)).json.data.attributes)
      .toMatchObject({ email: 'new@example.com', 'delegated-team-management': true })
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'New token of the organization' }).click()
    await page.getByLabel('What it is for').fill('the tests')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    const token = `/organizations/${pages.organization.name}/authentication-token`
    expect((await client.get(token)).status).toBe(200)
    await page.getByRole('button', { name: 'Revoke the token …' }).click()
    await page.getByText('last used never').waitFor()
    await page.getByRole('button', { name: 'Revoke for good' }).click()
    await page.getByText('The token is revoked.').waitFor()
    expect((await client.get(token)).status).toBe(404)
    await page.getByRole('button', { name: 'Revoke the token …' }).click()
    await page.getByText('The organization has no token.').waitFor()
    expect(await page.getByRole('button', { name: 'Revoke for good' }).count()).toBe(0)
  })

  test('make a team auditors, who then read the trail without being owners', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByRole('link', { name: 'auditors' }).click()
    await page.getByRole('link', { name: 'Permissions' }).click()
    await page.getByRole('checkbox', { name: /read-audit/ }).check()
    await page.getByText(/If you save this/).waitFor()
    await page.getByRole('button', { name: 'Save permissions' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Save permissions' }).isDisabled()).toBe(true)
    expect(await page.getByRole('checkbox', { name: /read-audit/ }).isChecked()).toBe(true)

    const { page: theirs } = await signIn('auditor')
    await theirs.goto(`${pages.address}/settings/teams`)
    await theirs.getByRole('link', { name: 'Refusals' }).waitFor()
    await theirs.getByRole('link', { name: 'Audit trail' }).click()
    await theirs.getByRole('row').filter({ hasText: 'team.update' }).first().waitFor()
    for (const name of ['People', 'Settings']) {
      expect(await theirs.getByRole('link', { name }).count()).toBe(0)
    }
  })

  test('show who revealed an output', async () => {
    const { organization, server } = pages
    const output = { value: 'secret', type: 'string', sensitive: true }
    const { workspaceId, stateVersionId } = await createState(organization, JSON.stringify({ seen: output }))
    const readers = await createTeam(organization, { name: 'readers' })
    await grantWorkspace(organization, readers, workspaceId, { access: 'read' })
    const reader = await addMember(server, organization, [readers])
    await reader.client.get(`/state-versions/${stateVersionId}/outputs`)
    const { page } = await signIn('owner')
    await page.goto(`${pages.address}/audit`)
    await page.getByRole('row').filter({ hasText: 'output.reveal' }).first().waitFor()
    await page.getByLabel('Revealed output').fill('seen')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'workspace.create' }).first().waitFor({ state: 'detached' })
    await page
      .getByRole('row')
      .filter({ hasText: reader.username })
      .filter({ hasText: '127.0.0.1' })
      .waitFor()
    await page.getByLabel('Address of the client').fill('192.0.2.1')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText('No event matches.').waitFor()
  })

  test('let an administrator give somebody invited a link, with which they make their account', async () => {
    const email = `${uniqueName('guest')}@example.com`
    await invitePerson(pages.organization, { email })
    const tab = await signIn('administrator')
    const { page } = tab
    await page.goto(`${pages.server.address}/app/~/admin/users?q=${email}`)
    await page.getByRole('button', { name: `Invitation link (${email})` }).click()
    await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: `Copy the link for ${email}` }).click()
    await page.getByText('it is in the clipboard').waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')

    const theirs = await pages.open()
    await theirs.page.goto(link)
    await theirs.page.getByRole('heading', { name: 'Create your account' }).waitFor()
    expect(theirs.page.url()).not.toContain('#')
    await expectWellMade(theirs)
    await theirs.page.getByLabel('User name').fill(uniqueName('guest'))
    await theirs.page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await theirs.page.getByLabel('New password, again').fill(PASSWORD)
    await theirs.page.getByRole('button', { name: 'Create the account' }).click()
    const invitation = theirs.page.getByRole('group', { name: `Invitation to ${pages.organization.name}` })
    await invitation.getByRole('button', { name: 'Accept' }).click()
    await theirs.page.getByRole('link', { name: pages.organization.name, exact: true }).waitFor()
  })

  test('let an administrator create a user, who sets a password, and suspend them', async () => {
    const tab = await signIn('administrator')
    const { page } = tab
    await page.getByRole('link', { name: 'Administration' }).click()
    const username = uniqueName('newcomer')
    await page.getByText('New user').click()
    await page.getByLabel('User name').fill(username)
    await page.getByLabel('Email', { exact: true }).fill(`${username}@example.com`)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${username} has an account`).waitFor()
    await page.getByLabel('Find users').fill(username)
    await page.getByRole('button', { name: `Password link (${username})` }).click()
    await tab.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: `Copy the link for ${username}` }).click()
    await page.getByText('it is in the clipboard').waitFor()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(await page.content()).not.toContain(link.split('#')[1])
    await expectWellMade(tab)

    const theirs = (await pages.open()).page
    await theirs.goto(link)
    await theirs.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await theirs.getByLabel('New password, again').fill(PASSWORD)
    await theirs.getByRole('button').click()
    await theirs.getByRole('heading', { name: 'Organizations' }).waitFor()

    await page.getByRole('button', { name: `Suspend … (${username})` }).click()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Suspend', exact: true }).click()
    await rowOf(tab, username).getByText('suspended', { exact: true }).waitFor()
    await theirs.reload()
    await theirs.getByLabel('User name or email').waitFor()
    await page.getByRole('button', { name: `End the suspension (${username})` }).click()
    await rowOf(tab, username).getByText('active', { exact: true }).waitFor()

    const { client } = pages.organization.owner
    const refused = await client.get(`/organizations/${uniqueName('nowhere')}`)
    await pages.server.app.deps.refusals.flush()
    const id = refused.headers.get('x-request-id') ?? ''
    await page.getByRole('link', { name: 'Refusals of the site' }).click()
    const notice = page.getByRole('region', { name: `Refusal ${id}` })
    await page.getByLabel('Request id').fill(id)
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await notice.getByText('does not exist').first().waitFor()
    await expectWellMade(tab)
  })
})
