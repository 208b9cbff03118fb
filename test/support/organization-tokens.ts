import { afterAll, beforeAll, expect } from 'vitest'
import type { Client } from './client.ts'
import { startNode, type TestServer } from './server.ts'
import { body, type TestOrganization } from './world.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
export const TWO_YEARS_MS = 2 * 365 * DAY_MS

/** A second node on the server's database, for the tests and hooks of the same description. */
export function startSecondNode(server: TestServer): TestServer {
  const second = {} as TestServer
  beforeAll(async () => {
    Object.assign(second, await startNode(server))
  })
  afterAll(() => second.stop())
  return second
}

export const organizationBody = (attributes: object) => body('organizations', attributes)

export const policiesPath = ({ name }: TestOrganization) => `/organizations/${name}/token-ttl-policies`

/** The body that sets the lifetimes of these kinds of tokens. */
export const policiesBody = (kinds: Record<string, unknown>) =>
  body('organization-token-ttl-policies', {
    'token-ttl-policies': Object.entries(kinds).map(([kind, ms]) => ({
      'token-type': kind,
      'max-ttl-ms': ms,
    })),
  })

export const statusOf = async (client: Client, path: string) => (await client.get(path)).status
export const dataOf = async (client: Client, path: string) => (await client.get(path)).json.data

/** Creates a token at the path. Returns a client that sends it. */
export async function createToken(server: TestServer, creator: Client, path: string): Promise<Client> {
  const created = await creator.post(path)
  expect(created.status).toBe(201)
  return server.client(created.json.data.attributes.token)
}

export const createTeamToken = (server: TestServer, { owner }: TestOrganization, team: string) =>
  createToken(server, owner.client, `/teams/${team}/authentication-token`)

/** Creates a token of the team `owners`. */
export async function createOwnersToken(server: TestServer, organization: TestOrganization): Promise<Client> {
  const path = `/organizations/${organization.name}/teams?filter[names]=owners`
  const [owners] = await dataOf(organization.owner.client, path)
  return createTeamToken(server, organization, owners.id)
}

export async function setUserTokens(client: Client, { name }: TestOrganization, isOn: boolean) {
  const update = organizationBody({ 'user-tokens-enabled': isOn })
  const changed = await client.patch(`/organizations/${name}`, update)
  expect(changed.status).toBe(200)
  expect(changed.json.data.attributes['user-tokens-enabled']).toBe(isOn)
}
