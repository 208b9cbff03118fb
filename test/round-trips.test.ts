// How often a request waits for PostgreSQL. Each time takes as long as the network, and a write locks its organization
// meanwhile.
import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPostgresDatabase, onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, createState, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  uniqueName,
  type Person,
  type TestOrganization,
} from './support/world.ts'

/** A request is repeated, because work in the background adds some now and then. */
const REPEATED = 20

describe.each(onlyPostgres)('round trips to %s', (engine) => {
  let forwarder: Forwarder
  let server: TestServer
  let organization: TestOrganization
  const ended: (() => Promise<void>)[] = []
  beforeAll(async () => {
    const { url, drop } = await createPostgresDatabase()
    const through = new URL(url)
    forwarder = await Forwarder.start(Number(through.port))
    through.port = String(forwarder.port)
    server = await startServer(engine, { databaseUrl: through.href })
    ended.push(
      () => server.stop(),
      () => forwarder.close(),
      drop,
    )
    organization = await createTestOrganization(server)
  })
  afterAll(async () => {
    for (const end of ended) await end()
  })

  /** The fewest of some requests of the same kind. */
  async function fewest(
    request: (number: number) => Promise<{ status: number }>,
    count = () => forwarder.roundTrips,
  ): Promise<number> {
    const counts: number[] = []
    for (let number = 0; number < REPEATED; number++) {
      const before = count()
      const { status, ...rest } = await request(number)
      expect(status, JSON.stringify(rest)).toBeLessThan(300)
      counts.push(count() - before)
    }
    return Math.min(...counts)
  }

  test('a create of a team waits a few times', async () => {
    const teams = `/organizations/${organization.name}/teams`
    const create = () => organization.owner.client.post(teams, body('teams', { name: uniqueName('team') }))
    expect(await fewest(create)).toBeLessThanOrEqual(3)
  })

  test('the statements that a create need not wait between are one packet', async () => {
    const writes = (['_write', '_writev'] as const).map((name) => vi.spyOn(Socket.prototype, name))
    onTestFinished(() => writes.forEach((write) => write.mockRestore()))
    const packets = () =>
      writes
        .flatMap(({ mock }) => mock.contexts)
        .filter((socket) => socket instanceof Socket && socket.remotePort === forwarder.port)
    const teams = `/organizations/${organization.name}/teams`
    const create = () => organization.owner.client.post(teams, body('teams', { name: uniqueName('team') }))
    expect(await fewest(create, () => packets().length)).toBeLessThanOrEqual(3)
  })

  test('a search of a plain member waits as often as one of an owner', async () => {
    const name = uniqueName('a-team-with-a-long-name')
    const member = await addMember(server, organization, [await createTeam(organization)])
    await createTeam(organization, { name, visibility: 'organization' })
    const search = ({ client }: Person) =>
      fewest((number) =>
        client.get(`/organizations/${organization.name}/teams?q=${name.slice(0, number + 2)}`),
      )
    expect(await search(member)).toBe(await search(organization.owner))
  })

  test('a create of a workspace waits a few times', async () => {
    const workspaces = `/organizations/${organization.name}/workspaces`
    const create = () =>
      organization.owner.client.post(workspaces, body('workspaces', { name: uniqueName('workspace') }))
    expect(await fewest(create)).toBeLessThanOrEqual(9)
  })

  test('a push of a state sends statements together that need no answer of each other', async () => {
    const { client } = organization.owner
    const { workspaceId } = await createState(organization, '{}')
    await lock(client, workspaceId)
    onTestFinished(async () => void (await client.post(`/workspaces/${workspaceId}/actions/unlock`)))
    const push = (number: number) => {
      const state = stateText('{}', number + 2)
      return postState(client, workspaceId, state, { state: base64(state) })
    }
    // The last one asks how many bytes the organization has then.
    expect(await fewest(push)).toBeLessThanOrEqual(10)
  })
})
