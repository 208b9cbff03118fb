import { beforeAll, describe, expect, test } from 'vitest'
import { usePages } from '../support/pages.ts'
import { createState } from '../support/states.ts'
import { createWorkspace } from '../support/world.ts'

const OUTPUTS = JSON.stringify({ password: { value: 's3cret', type: 'string', sensitive: true } })

describe('the address of a page, which somebody else wrote,', () => {
  const pages = usePages()
  let outputId: string
  let stateVersionId: string
  beforeAll(async () => {
    const workspaceId = await createWorkspace(pages.organization, { name: 'database' })
    await createState(pages.organization, OUTPUTS, workspaceId)
    const { client } = pages.organization.owner
    const outputs = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    outputId = outputs.json.data[0].id
    stateVersionId = (await client.get(`/workspaces/${workspaceId}/current-state-version`)).json.data.id
  })

  test.each([
    ['a project', (path: string) => `/projects/${path}`],
    ['a project, encoded twice', (path: string) => `/projects/${path.replaceAll('..', '%252e%252e')}`],
    ['a team', (path: string) => `/settings/teams/${path}`],
    ['a state version', (path: string) => `/workspaces/database/states?version=${path}`],
  ])('reveals no sensitive value in place of %s', async (_, place) => {
    const { page } = await pages.signIn('owner')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const path = encodeURIComponent(`../state-version-outputs/${outputId}?`)
    await page.goto(`${pages.address}${place(path)}`)
    await page.getByText('Not there, or not for you').waitFor()
    expect(asked.filter((one) => one.startsWith('/api/v2/state-version-outputs'))).toEqual([])
    const events = `/organizations/${pages.organization.name}/audit-events?filter[action]=output.reveal`
    expect((await pages.organization.owner.client.get(events)).json.data).toEqual([])
  })

  test.each([
    ['of no page', 'nowhere/at-all'],
    ['of no tab', 'workspaces/database/nowhere'],
    ['that cannot be decoded', '%E0%A4%A'],
  ])('says that there is none: one %s', async (_, path) => {
    const { page, complaints } = await pages.signIn('owner')
    await page.goto(`${pages.address}/workspaces`)
    await page.getByRole('link', { name: 'database' }).waitFor()
    await page.goto(`${pages.address}/${path}`)
    await page.getByRole('heading', { name: 'No such page' }).waitFor()
    expect(await page.title()).toBe('No such page · Purser')
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('heading').count()).toBe(1)
    expect(complaints).toEqual([])
  })

  test('downloads no state', async () => {
    const { page } = await pages.signIn('owner')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const version = encodeURIComponent(`${stateVersionId}/download?`)
    await page.goto(`${pages.address}/workspaces/database/states?version=${version}`)
    await page.getByText('Not there, or not for you').waitFor()
    expect(asked.filter((one) => one.endsWith('/download'))).toEqual([])
  })
})
