import { expect, test } from 'vitest'
import { usePages } from '../support/pages.ts'
import { body, createTeam, createWorkspace, invitePerson, type Person } from '../support/world.ts'

const NAMESAKES = 100
const pages = usePages()

test('somebody who was refused is found among the members whose names contain theirs', async () => {
  const { server, organization } = pages
  const join = async (username: string, teamIds: string[] = []): Promise<Pick<Person, 'client'>> => {
    const email = `${username}@example.com`
    const user = await server.admin.post('/admin/users', body('users', { username, email }))
    const token = await server.admin.post(`/users/${user.json.data.id}/authentication-tokens`)
    const client = server.client(token.json.data.attributes.token)
    const membership = await invitePerson(organization, { email }, teamIds)
    const accepted = await client.post(`/organization-memberships/${membership}/actions/accept`)
    expect(accepted.status, accepted.text).toBe(200)
    return { client }
  }
  const workspaceId = await createWorkspace(organization, { name: 'database' })
  const team = await createTeam(organization, { name: 'apps' })
  await Promise.all(Array.from({ length: NAMESAKES }, (_, place) => join(`alma-${place + 1}`)))
  const { client } = await join('alma', [team])
  const refused = await client.get(`/workspaces/${workspaceId}`)
  expect(refused.status).toBe(404)
  await server.app.deps.refusals.flush()
  const { page } = await pages.signIn('owner')
  await page.goto(`${pages.address}/refusals?q=${refused.headers.get('x-request-id')}`)
  await page.getByRole('button', { name: 'Choose what to give' }).click()
  const form = page.getByRole('form', { name: 'Give access to alma' })
  await form.getByText('give the team apps access').first().waitFor({ timeout: 10_000 })
})
