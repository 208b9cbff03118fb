import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { addMember, createTeam, createUser, uniqueName, type Person } from '../support/world.ts'

const HOSTILE = [
  `<img src=x onerror="document.title='ran'">`,
  `"><script>document.title='ran'</script>`,
  `{{constructor.constructor("document.title='ran'")()}}`,
  'javascript:document.title="ran"',
  '\u202Etxet desrever',
]

describe('the pages about people and what they did', () => {
  const pages = usePages()
  let guest: Person
  beforeAll(async () => {
    guest = await createUser(pages.server)
    await pages.add('guest', guest)
    const team = await createTeam(pages.organization, { name: 'apps' })
    await pages.add('member', await addMember(pages.server, pages.organization, [team]))
  })

  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })

  test('invite somebody, who accepts, and remove them again', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'People' }).click()
    await rowOf(tab, pages.usernameOf('member')).getByText('apps').waitFor()
    await page.getByLabel('Invite by email').fill(guest.email)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByText(`${guest.email} is invited`).waitFor()
    await rowOf(tab, guest.email).getByText('invited', { exact: true }).waitFor()
    await expectWellMade(tab)

    const theirs = await signIn('guest')
    const invitation = theirs.page.getByRole('group', { name: `Invitation to ${pages.organization.name}` })
    await invitation.waitFor()
    await expectWellMade(theirs)
    await invitation.getByRole('button', { name: 'Accept' }).click()
    await theirs.page.getByRole('link', { name: pages.organization.name }).waitFor()

    await page.getByLabel('Find people').fill(guest.username)
    await page.reload()
    await rowOf(tab, guest.username).getByText('active').waitFor()
    await page.getByRole('button', { name: `Remove ${guest.username} …` }).click()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Remove from the organization' }).click()
    await page.getByText('Nobody matches').waitFor()
  })

  test('decline an invitation', async () => {
    const { client } = pages.organization.owner
    const path = `/organizations/${pages.organization.name}/organization-memberships`
    const attributes = { email: guest.email }
    expect((await client.post(path, { data: { type: 'organization-memberships', attributes } })).status).toBe(
      201,
    )
    const tab = await signIn('guest')
    await tab.page.getByRole('button', { name: 'Decline' }).click()
    await tab.page.getByText('You are in no organization yet').waitFor()
  })

  test('create an organization', async () => {
    const tab = await signIn('guest')
    const { page } = tab
    const name = uniqueName('made-by-a-page')
    await page.getByLabel('Name').fill('not a name!')
    await page.getByLabel('Email of its owners').fill('owners@example.com')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').waitFor()
    await expectWellMade(tab)
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('No workspaces yet').waitFor()
    expect(page.url()).toContain(`/app/${name}/workspaces`)
    await expectWellMade(tab)
  })

  test('show the audit trail with filters in the address, and hostile texts as text', async () => {
    const { client } = pages.organization.owner
    const made = []
    for (const description of HOSTILE) {
      const answer = await client.post(`/organizations/${pages.organization.name}/workspaces`, {
        data: { type: 'workspaces', attributes: { name: uniqueName('workspace'), description } },
      })
      expect(answer.status, answer.text).toBe(201)
      made.push(answer.json.data)
    }
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'Audit trail' }).click()
    await page.getByRole('row').filter({ hasText: 'team.create' }).first().waitFor()
    await page.getByLabel('Action').fill('workspace.create')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'team.create' }).first().waitFor({ state: 'detached' })
    expect(page.url()).toContain('action=workspace.create')
    expect(await page.getByRole('rowheader', { name: 'workspace.create' }).count()).toBe(HOSTILE.length)
    await page.getByText('Details').first().click()
    await expectWellMade(tab)
    for (const { attributes } of made) {
      await page.goto(`${pages.address}/workspaces/${attributes.name}`)
      await page.getByText(attributes.description).waitFor()
      expect(await page.title()).not.toBe('ran')
    }
    expect(tab.complaints).toEqual([])
  })

  test('show a member no way to what is not theirs', async () => {
    const tab = await signIn('member')
    const { page } = tab
    await page.goto(`${pages.address}/settings/teams`)
    await page.getByRole('link', { name: 'apps' }).waitFor()
    for (const name of ['People', 'Refusals', 'Audit trail']) {
      expect(await page.getByRole('link', { name }).count()).toBe(0)
    }
    await page.goto(`${pages.address}/projects`)
    await page.getByText('You may not list projects here').waitFor()
    await page.goto(`${pages.server.address}/app/no-such-organization/workspaces`)
    await page.getByText('Not there, or not for you').waitFor()
    await page.goto(`${pages.address}/audit`)
    await page.getByText('Not there, or not for you').waitFor()
    await expectWellMade(tab)
  })
})
