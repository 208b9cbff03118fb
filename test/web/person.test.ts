import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import {
  addMember,
  createTeam,
  createUser,
  createWorkspace,
  grantWorkspace,
  invitePerson,
  type Member,
} from '../support/world.ts'

describe('the page of a person', () => {
  const pages = usePages()
  let member: Member
  let colleague: Member
  beforeAll(async () => {
    const { organization, server } = pages
    const apps = await createTeam(organization, { name: 'apps', visibility: 'organization' })
    const managers = await createTeam(organization, {
      name: 'managers',
      'organization-access': { 'manage-membership': true },
    })
    const workspaceId = await createWorkspace(organization, { name: 'database' })
    await grantWorkspace(organization, apps, workspaceId, { access: 'read' })
    member = await addMember(server, organization, [apps])
    colleague = await addMember(server, organization, [apps])
    await pages.add('member', member)
    await pages.add('manager', await addMember(server, organization, [managers]))
    const admin = await createUser(server, 'admin')
    await server.admin.post(`/admin/users/${admin.id}/actions/grant_admin`)
    await pages.add('administrator', admin)
  })

  test('shows an owner status, teams and access, and removes the person', async () => {
    const tab = await pages.signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/people`)
    await page.getByRole('link', { name: colleague.username, exact: true }).click()
    await page.getByRole('heading', { name: colleague.username }).waitFor()
    await page.getByRole('cell', { name: 'active' }).waitFor()
    await page.getByRole('link', { name: 'apps' }).waitFor()
    await page.getByText(`${colleague.username} has read on database`).waitFor()
    expect(await page.getByRole('heading', { name: 'Tokens' }).count()).toBe(0)
    await expectWellMade(tab)
    await page.getByRole('button', { name: `Remove ${colleague.username} …` }).click()
    await page.getByRole('button', { name: 'Remove from the organization' }).click()
    await page.getByText('Not in the organization any more.').waitFor()
    await expectWellMade(tab)
    await page.getByRole('link', { name: 'Back to all people' }).click()
    await page.getByRole('rowheader', { name: member.username }).waitFor()
    // The list that was shown before stays until the new one is there.
    await expect.poll(() => page.getByRole('rowheader', { name: colleague.username }).count()).toBe(0)
  })

  test('shows a person their own access and the ages of their tokens', async () => {
    const tab = await pages.signIn('member')
    const { page } = tab
    await page.goto(`${pages.address}/people/${member.membershipId}`)
    await page.getByText(`${member.username} has read on database`).waitFor()
    await page.getByRole('columnheader', { name: 'Made' }).waitFor()
    expect(await page.content()).not.toContain(member.client.token)
    await expectWellMade(tab)
  })

  test('asks the server for nothing that the reader may not see', async () => {
    for (const [who, seesMore] of [
      ['manager', false],
      ['administrator', true],
    ] as const) {
      const { page } = await pages.signIn(who)
      const refused: string[] = []
      page.on('response', (response) => {
        if (response.status() >= 400) refused.push(response.url())
      })
      await page.goto(`${pages.address}/people/${member.membershipId}`)
      await page.getByRole('heading', { name: 'Teams' }).waitFor()
      if (seesMore) await page.getByRole('columnheader', { name: 'Made' }).waitFor()
      for (const name of ['Access', 'Tokens']) {
        expect(await page.getByRole('heading', { name }).count(), `${who} ${name}`).toBe(seesMore ? 1 : 0)
      }
      expect(refused).toEqual([])
    }
  })

  test('shows somebody invited, without access', async () => {
    const { organization, server } = pages
    const guest = await createUser(server, 'guest')
    const membershipId = await invitePerson(organization, guest)
    const tab = await pages.signIn('owner')
    await tab.page.goto(`${pages.address}/people/${membershipId}`)
    await tab.page.getByRole('heading', { name: guest.email }).waitFor()
    await tab.page.getByText('invited since').waitFor()
    expect(await tab.page.getByRole('heading', { name: 'Access' }).count()).toBe(0)
    await expectWellMade(tab)
  })
})
