import { beforeAll, describe, expect, test } from 'vitest'
import { usePages } from '../support/pages.ts'
import { body, createProject, createTeam, createWorkspace } from '../support/world.ts'

describe('a form for settings', () => {
  const pages = usePages()
  let workspaceId: string
  let projectId: string
  let teamId: string
  beforeAll(async () => {
    workspaceId = await createWorkspace(pages.organization, { name: 'database' })
    projectId = await createProject(pages.organization, { name: 'storage' })
    teamId = await createTeam(pages.organization, { name: 'apps' })
  })

  test.each([
    ['a workspace', () => 'workspaces/database/settings', 'Description', 'for the apps'],
    ['a project', () => `projects/${projectId}/settings`, 'Description', 'for the disks'],
    ['a team', () => `settings/teams/${teamId}/settings`, 'Name', 'applications'],
    ['an organization', () => 'settings/general', 'Email of its owners', 'owners@example.com'],
  ])('says that %s is saved', async (_, path, label, text) => {
    const { page, complaints } = await pages.signIn('owner')
    await page.goto(`${pages.address}/${path()}`)
    await page.getByLabel(label, { exact: true }).fill(text)
    await page.getByRole('form', { name: 'Settings' }).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor({ timeout: 10_000 })
    expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(text)
    expect(complaints).toEqual([])
  })

  test('sends only what was changed, and says what somebody else has changed meanwhile', async () => {
    const { client } = pages.organization.owner
    const id = await createWorkspace(pages.organization, { name: 'queue', description: 'old' })
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/${id}/settings`)
    const description = page.getByLabel('Description')
    await expect.poll(() => description.inputValue()).toBe('old')
    const bodies: (string | null)[] = []
    page.on('request', (request) => {
      if (request.method() === 'PATCH') bodies.push(request.postData())
    })
    await page.getByLabel('Name', { exact: true }).fill('queues')
    await client.patch(`/workspaces/${id}`, body('workspaces', { description: 'by somebody else' }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await expect.poll(() => description.inputValue()).toBe('by somebody else')
    expect(bodies).toHaveLength(1)
    expect(bodies[0]).not.toContain('description')

    await description.fill('mine')
    await client.patch(`/workspaces/${id}`, body('workspaces', { description: 'newer' }))
    // Nothing has told the page yet: it asks before it saves.
    await page.getByRole('button', { name: 'Save' }).click()
    const warning = page.getByText('Somebody else has changed this meanwhile. Description: “newer”.')
    await warning.waitFor()
    expect(bodies).toHaveLength(1)
    await page.getByRole('button', { name: 'Save' }).click()
    await warning.waitFor({ state: 'detached' })
    expect((await client.get(`/workspaces/${id}`)).json.data.attributes.description).toBe('mine')
  })

  test('keeps what is typed while it saves', async () => {
    const id = await createWorkspace(pages.organization, { name: 'slow' })
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/${id}/settings`)
    await page.route(`**/api/v2/workspaces/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await page.getByLabel('Description').fill('typed meanwhile')
      await route.continue()
    })
    await page.getByLabel('Description').fill('typed before')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('typed meanwhile')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('typed meanwhile', { exact: true }).waitFor()
  })

  test('names the fields that are refused, and is not sent by Enter in a search in it', async () => {
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces`)
    await page.getByText('New workspace').click()
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('not good')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('name must be 1 to 90 letters').waitFor()
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    const reason = page.locator(`[id="${await name.getAttribute('aria-describedby')}"]`)
    expect(await reason.textContent()).toContain('name must be')
    expect(await page.getByLabel('Description').getAttribute('aria-invalid')).toBe('false')
    await name.fill('too-early')
    await page.getByLabel('Find a project').fill('stor')
    await page.getByRole('radio', { name: 'Default Project' }).waitFor({ state: 'detached' })
    await page.getByLabel('Find a project').press('Enter')
    await page.getByRole('radio', { name: 'storage' }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'too-early' }).waitFor()
    await page.goto(`${pages.address}/projects/${projectId}`)
    await page.getByRole('link', { name: 'too-early' }).waitFor()
  })

  test('keeps what was typed while somebody else changes the same workspace, and follows in the rest', async () => {
    const { client } = pages.organization.owner
    const { page } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces/${workspaceId}/settings`)
    const description = page.getByLabel('Description')
    const change = (attributes: object) =>
      client.patch(`/workspaces/${workspaceId}`, body('workspaces', attributes))
    await description.fill('typed for long')
    await change({ name: 'storage', description: 'by somebody else' })
    await page.getByRole('heading', { name: 'storage' }).waitFor()
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('storage')
    expect(await description.inputValue()).toBe('typed for long')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    const { attributes } = (await client.get(`/workspaces/${workspaceId}`)).json.data
    expect(attributes).toMatchObject({ name: 'storage', description: 'typed for long' })
    await page.getByLabel('Name', { exact: true }).fill('disks')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => page.url()).toBe(`${pages.address}/workspaces/disks/settings`)
    await page.getByText('Saved.', { exact: true }).waitFor()
    // What is saved is typed no more.
    await change({ description: 'by somebody else again' })
    await expect.poll(() => description.inputValue()).toBe('by somebody else again')
  })
})
