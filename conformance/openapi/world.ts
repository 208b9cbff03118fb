import { createHash } from 'node:crypto'

/** The data that the generated clients must find. */
export type World = {
  organization: string
  workspaceId: string
  teams: string[]
  outputs: Record<string, unknown>
}

const outputs = { address: '10.0.0.1', sizes: [1, 2.5, 'large'], tags: { team: 'readers' } }

type Made = { id: string; attributes: { token?: string } }

async function make(
  address: string,
  token: string,
  path: string,
  type: string,
  attributes: object,
): Promise<Made> {
  const response = await fetch(`${address}/api/v2${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data: { type, attributes } }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path} answered ${response.status} ${text}`)
  return (JSON.parse(text) as { data: Made }).data
}

/** Creates a user who owns an organization. Returns their token. */
export async function createOwner(address: string, adminToken: string): Promise<string> {
  const person = { username: 'owner', email: 'owner@example.com' }
  const { id } = await make(address, adminToken, '/admin/users', 'users', person)
  const path = `/users/${id}/authentication-tokens`
  const { token } = (await make(address, adminToken, path, 'authentication-tokens', {})).attributes
  await make(address, token as string, '/organizations', 'organizations', {
    name: 'owned',
    email: 'ops@example.com',
  })
  return token as string
}

/** Creates an organization, and for each caller a team that may write its workspaces. Returns the teams' tokens. */
export async function createCallers(
  address: string,
  token: string,
  count: number,
): Promise<{ organization: string; tokens: string[] }> {
  const organization = 'callers'
  await make(address, token, '/organizations', 'organizations', {
    name: organization,
    email: 'ops@example.com',
  })
  const tokens: string[] = []
  for (let caller = 0; caller < count; caller++) {
    const { id } = await make(address, token, `/organizations/${organization}/teams`, 'teams', {
      name: `caller-${caller}`,
      'organization-access': { 'manage-workspaces': true },
    })
    const made = await make(address, token, `/teams/${id}/authentication-token`, 'authentication-tokens', {})
    tokens.push(made.attributes.token ?? '')
  }
  return { organization, tokens }
}

/** Creates an organization with a team, and a workspace with outputs of several types. */
export async function createWorld(address: string, token: string): Promise<World> {
  const organization = 'generated'
  const post = async (path: string, type: string, attributes: object) =>
    (await make(address, token, path, type, attributes)).id
  await post('/organizations', 'organizations', { name: organization, email: 'ops@example.com' })
  const path = `/organizations/${organization}`
  await post(`${path}/teams`, 'teams', { name: 'readers', visibility: 'organization' })
  const workspaceId = await post(`${path}/workspaces`, 'workspaces', { name: 'network' })
  const types = {
    address: 'string',
    sizes: ['tuple', ['number', 'number', 'string']],
    tags: ['map', 'string'],
  }
  const state = JSON.stringify({
    version: 4,
    terraform_version: '1.10.10',
    serial: 1,
    lineage: 'generated',
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, value]) => [
        name,
        { value, type: types[name as keyof typeof types] },
      ]),
    ),
    resources: [],
  })
  await post(`/workspaces/${workspaceId}/actions/lock`, 'workspaces', {})
  await post(`/workspaces/${workspaceId}/state-versions`, 'state-versions', {
    serial: 1,
    lineage: 'generated',
    md5: createHash('md5').update(state).digest('hex'),
    state: Buffer.from(state).toString('base64'),
  })
  await post(`/workspaces/${workspaceId}/actions/unlock`, 'workspaces', {})
  return { organization, workspaceId, teams: ['owners', 'readers'], outputs }
}
