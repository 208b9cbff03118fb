import { expect, test } from 'vitest'
import type { Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantBody,
  type TestOrganization,
} from './support/world.ts'

const warningsOf = ({ json }: Response) => json.meta?.warnings
const pointersOf = (answer: Response) =>
  warningsOf(answer)?.map(({ source }: { source: { pointer: string } }) => source.pointer)
const at = (name: string) => `/data/attributes/${name}`

type Asked = {
  readonly method: string
  readonly path: string
  readonly body: object
  readonly unknown: string[]
}

/** A write to each kind of object that gives access, with an attribute that is not quite one. */
async function misspelled(organization: TestOrganization): Promise<Asked[]> {
  const { name } = organization
  const workspaceId = await createWorkspace(organization)
  const teamId = await createTeam(organization)
  const grant = grantBody(teamId, 'workspace', workspaceId) as { data: { attributes: object } }
  Object.assign(grant.data.attributes, { 'expired-at': '2030-01-01T00:00:00Z' })
  const team = { visibilty: 'organization', 'organization-access': { 'manage-workspace': true } }
  return [
    {
      method: 'POST',
      path: '/team-workspaces',
      body: grant,
      unknown: [at('expired-at')],
    },
    {
      method: 'PATCH',
      path: `/teams/${teamId}`,
      body: body('teams', team),
      unknown: [at('visibilty'), at('organization-access/manage-workspace')],
    },
    {
      method: 'POST',
      path: `/teams/${teamId}/authentication-tokens`,
      body: body('authentication-tokens', { description: 'one', 'expires-at': '2030-01-01T00:00:00Z' }),
      unknown: [at('expires-at')],
    },
    {
      method: 'POST',
      path: `/organizations/${name}/organization-memberships`,
      body: body('organization-memberships', { email: `${name}@example.com`, teems: [] }),
      unknown: [at('teems')],
    },
  ]
}

onEachEngine('unknown attributes of what gives access', (server) => {
  test('are ignored, and named in the answer and in the audit trail', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    for (const { method, path, body: sent, unknown } of await misspelled(organization)) {
      const answer = await client.request(method, path, sent)
      expect(answer.status, answer.text).toBeLessThan(300)
      expect(pointersOf(answer)).toEqual(unknown)
      expect(answer.json.data.id).toBeDefined()
      const trail = (await client.get(`/organizations/${organization.name}/audit-events?page[size]=1`)).json
      expect(trail.data[0].attributes.details['ignored-attributes']).toEqual(unknown)
    }
  })

  test('are named one by one, up to twenty, and their values nowhere', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const path = `/organizations/${organization.name}/teams`
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`a/~${at}`, 'secret value']))
    const answer = await client.post(path, body('teams', { ...many, name: 'one' }))
    expect(answer.status).toBe(200)
    expect(pointersOf(answer)).toHaveLength(20)
    expect(pointersOf(answer)[0]).toBe(at('a~1~00'))
    const trail = await client.get(`/organizations/${organization.name}/audit-events?page[size]=1`)
    expect(answer.text + trail.text).not.toContain('secret value')
  })

  test('that clients of the platform send are ignored without a word', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const id = await createTeam(organization)
    const shown = (await client.get(`/teams/${id}`)).json.data.attributes
    const sent = {
      ...shown,
      'is-unified': false,
      'scim-linked': false,
      'organization-access': { ...shown['organization-access'], 'manage-public-modules': false },
    }
    const changed = await client.patch(`/teams/${id}`, body('teams', sent))
    expect(changed.status).toBe(200)
    expect(changed.text.startsWith('{"data":')).toBe(true)
    const token = await client.post(`/teams/${id}/authentication-token`)
    expect([token.status, warningsOf(token)]).toEqual([201, undefined])
  })

  test('do not make a large answer that is sent in parts wrong', async () => {
    const organization = await createTestOrganization(server)
    const id = await createTeam(organization)
    await addMember(server, organization, [id])
    const path = `/teams/${id}?include=users`
    const answer = await organization.owner.client.patch(path, body('teams', { nme: 'x' }))
    expect(pointersOf(answer)).toEqual([at('nme')])
    expect(answer.json.included).toHaveLength(1)
  })
})

onEachEngine('unknown attributes with PURSER_STRICT', { strict: 'true' }, (server) => {
  test('are refused, with every other problem', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    for (const { method, path, body: sent, unknown } of await misspelled(organization)) {
      const answer = await client.request(method, path, sent)
      expect(answer.status).toBe(422)
      const pointers = answer.json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)
      expect(pointers).toEqual(unknown)
    }
    const path = `/organizations/${organization.name}/teams`
    const answer = await client.post(path, body('teams', { name: 'a b', nme: 'x' }))
    expect(answer.json.errors).toEqual([
      expect.objectContaining({ source: { pointer: at('name') } }),
      expect.objectContaining({ detail: 'there is no attribute nme', source: { pointer: at('nme') } }),
    ])
    expect((await client.post(path, '{')).json.errors).toHaveLength(1)
  })
})

onEachEngine('flags that stay on', (server) => {
  test('when what turned them on is turned off are named by the answer and by the dry run', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const flags = (access: object) => body('teams', { 'organization-access': access })
    const id = await createTeam(organization)
    await client.patch(`/teams/${id}`, flags({ 'manage-projects': true }))
    const expected = [
      {
        detail: 'manage-workspaces stays true: turning manage-projects off does not turn it off',
        source: { pointer: at('organization-access/manage-workspaces') },
      },
      {
        detail: 'read-workspaces stays true: turning manage-projects off does not turn it off',
        source: { pointer: at('organization-access/read-workspaces') },
      },
    ]
    const off = flags({ 'manage-projects': false })
    const tried = await client.patch(`/teams/${id}?dry-run=true`, off)
    expect(warningsOf(tried)).toEqual(expected)
    const changed = await client.patch(`/teams/${id}`, off)
    expect(warningsOf(changed)).toEqual(expected)
    expect(changed.json.data.attributes['organization-access']).toMatchObject({ 'read-workspaces': true })
    const both = flags({ 'manage-workspaces': false, 'read-workspaces': false })
    expect(warningsOf(await client.patch(`/teams/${id}`, both))).toBeUndefined()
  })
})
