import { beforeAll, expect, test } from 'vitest'
import { usePages } from '../support/pages.ts'
import { createProject, createTeam, createWorkspace, grantProject, grantWorkspace } from '../support/world.ts'

const pages = usePages()
let projectId: string

beforeAll(async () => {
  const { organization } = pages
  const workspaceId = await createWorkspace(organization, { name: 'database' })
  projectId = await createProject(organization, { name: 'storage' })
  const team = await createTeam(organization, { name: 'pipelines' })
  await grantWorkspace(organization, team, workspaceId, {
    access: 'custom',
    'state-versions': 'write',
    'workspace-locking': false,
  })
  await grantProject(organization, team, projectId, {
    access: 'custom',
    'workspace-access': { 'state-versions': 'none', locking: true },
  })
})

test.each([
  ['workspace', () => 'workspaces/database', 'write', false],
  ['project', () => `projects/${projectId}`, 'none', true],
])('the form that changes a custom grant on a %s begins with its parts', async (_, path, part, locks) => {
  const { page } = await pages.signIn('owner')
  await page.goto(`${pages.address}/${path()}/access`)
  await page.getByRole('button', { name: 'Change the access of pipelines' }).click()
  const form = page.getByRole('form', { name: 'Change the access of pipelines' })
  expect(await form.getByRole('radio', { name: 'Custom' }).isChecked()).toBe(true)
  expect(await form.getByRole('radio', { name: part, exact: true }).isChecked()).toBe(true)
  expect(await form.getByLabel('lock and unlock').isChecked()).toBe(locks)
  await form.getByText('nobody’s access changes').waitFor()
})
