import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { onEachEngine } from './support/on-each-engine.ts'
import { Sender, type SentRequest } from './support/sender.ts'
import { base64, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  body,
  createProject,
  createTestOrganization,
  createWorkspace,
  type TestOrganization,
} from './support/world.ts'

const MIB = 1024 * 1024
const outputs = '{"a": {"value": 1, "type": "number"}}'

onEachEngine('bodies', (server) => {
  let attacker: TestOrganization
  let other: TestOrganization
  let senders: Sender[] = []
  beforeAll(async () => {
    attacker = await createTestOrganization(server)
    other = await createTestOrganization(server)
  })
  afterEach(async () => {
    for (const sender of senders) sender.stop()
    senders = []
    await vi.waitFor(() => expect(server.app.deps.bytesInFlight.taken).toBe(0), 20_000)
  })

  const begin = (request: SentRequest) => {
    const sender = new Sender(server.address, request)
    senders.push(sender)
    return sender
  }
  const lockedWorkspace = async ({ owner, ...organization }: TestOrganization) => {
    const id = await createWorkspace({ owner, ...organization })
    await lock(owner.client, id)
    return id
  }
  /** Starts a POST of a state version by the attacker and does not finish it. */
  const unfinished = (workspaceId: string, length?: number) =>
    begin({
      method: 'POST',
      path: `/api/v2/workspaces/${workspaceId}/state-versions`,
      token: attacker.owner.client.token,
      ...(length === undefined ? {} : { length }),
    })
  /** Requests that must still work for everyone else. */
  const othersAreServed = async () => {
    const { client } = other.owner
    expect((await fetch(`${server.address}/healthz`)).status).toBe(200)
    expect((await client.get(`/organizations/${other.name}`)).status).toBe(200)
    const workspaceId = await lockedWorkspace(other)
    const first = stateText(outputs)
    const made = await postState(client, workspaceId, first, { state: base64(first) })
    expect(made.status).toBe(201)
    const second = stateText(outputs, 2)
    const pending = await postState(client, workspaceId, second)
    const url = pending.json.data.attributes['hosted-state-upload-url'] as string
    expect((await client.request('PUT', url, second)).status).toBe(200)
    const relation = { 'rollback-state-version': { data: { type: 'state-versions', id: made.json.data.id } } }
    const rolledBack = await client.patch(
      `/workspaces/${workspaceId}/state-versions`,
      body('state-versions', {}, relation),
    )
    expect(rolledBack.status).toBe(201)
  }

  test('of one caller that do not end take half of the budget at most, and nobody else waits for them', async () => {
    const workspaceId = await lockedWorkspace(attacker)
    const { bytesInFlight } = server.app.deps
    const declared = Array.from({ length: 30 }, () => unfinished(workspaceId, 32 * MIB))
    const chunked = Array.from({ length: 30 }, () => unfinished(workspaceId))
    // The senders stop before the end, or are refused on the way.
    await Promise.all(
      [...declared, ...chunked].map(async (sender) => {
        for (let sent = 0; sent < 3 && sender.status === undefined; sent++) {
          await Promise.race([sender.send(Buffer.alloc(MIB, ' ')), sender.answered()])
        }
      }),
    )
    await vi.waitFor(
      () => expect(senders.filter(({ status }) => status === 503).length).toBeGreaterThan(20),
      20_000,
    )
    expect(bytesInFlight.taken).toBeLessThanOrEqual(bytesInFlight.limit / 2)
    await othersAreServed()
    const refused = senders.find(({ status }) => status === 503)
    expect(refused?.received).toMatch(/retry-after: 1\r\n/i)
    expect(refused?.received).toContain('the server is busy with other large bodies, uploads or answers')
  })

  test('count from their first byte, also those without a length and short ones', async () => {
    const { bytesInFlight } = server.app.deps
    const { token } = attacker.owner.client
    const path = `/api/v2/organizations/${attacker.name}/teams`
    for (const length of [undefined, 30_000]) {
      const before = bytesInFlight.taken
      const all = Array.from({ length: 10 }, () =>
        begin({ method: 'POST', path, token, ...(length === undefined ? {} : { length }) }),
      )
      await Promise.all(all.map((sender) => sender.send(' '.repeat(20_000))))
      await vi.waitFor(
        () => expect(bytesInFlight.taken - before).toBeGreaterThanOrEqual(10 * (length ?? 20_000)),
        20_000,
      )
    }
  })

  test('that come in tiny chunks take no more memory than their bytes', async () => {
    const workspaceId = await lockedWorkspace(attacker)
    const sender = unfinished(workspaceId)
    const before = process.memoryUsage()
    // A quarter of a mebibyte in chunks of one byte each.
    for (let round = 0; round < 16; round++) {
      await new Promise((resolve) => sender.socket.write('1\r\n \r\n'.repeat(16_384), resolve))
    }
    await vi.waitFor(
      () => expect(server.app.deps.bytesInFlight.taken).toBeGreaterThanOrEqual(2 * 0.25 * MIB),
      20_000,
    )
    const after = process.memoryUsage()
    // A list of buffers would need about 25 MB of heap.
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers
    expect(server.app.deps.bytesInFlight.taken).toBeLessThan(4 * MIB)
    expect(grown).toBeLessThan(100 * MIB)
  })

  test('are not read for a workspace that the caller has not locked', async () => {
    const unlocked = await createWorkspace(attacker)
    const others = await createWorkspace(attacker)
    await lock(server.admin, others)
    for (const [workspaceId, detail] of [
      [unlocked, 'This workspace is not locked and will only accept state uploads when locked'],
      [others, 'This workspace is locked by '],
    ] as const) {
      const sender = unfinished(workspaceId, 30 * MIB)
      await sender.send(Buffer.alloc(100_000, ' '))
      expect(await sender.answered()).toBe(409)
      expect(sender.received).toContain(detail)
      expect(server.app.deps.bytesInFlight.taken).toBe(0)
    }
  })

  test('are refused that are nested too deeply, or hold too many values, on every route', async () => {
    const { client } = attacker.owner
    const workspaceId = await lockedWorkspace(attacker)
    const projectId = await createProject(attacker)
    const routes: [string, string][] = [
      ['POST', `/organizations/${attacker.name}/teams`],
      ['PATCH', `/organizations/${attacker.name}`],
      ['POST', `/workspaces/${workspaceId}/actions/lock`],
      ['POST', `/workspaces/${workspaceId}/state-versions`],
      ['POST', `/workspaces/${workspaceId}/relationships/tags`],
      ['PATCH', `/workspaces/${workspaceId}/tag-bindings`],
      ['POST', `/projects/${projectId}/relationships/workspaces`],
      ['POST', '/team-workspaces'],
    ]
    const nested = '['.repeat(100_000) + ']'.repeat(100_000)
    const within = `{"data":{"attributes":{"name":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}}}`
    for (const [method, path] of routes) {
      for (const text of [nested, within]) {
        const refused = await client.request(method, path, text)
        expect([path, refused.status, refused.json.errors[0]]).toEqual([
          path,
          422,
          {
            status: '422',
            title: 'invalid attribute',
            detail: 'the body is nested deeper than 64',
            source: { pointer: '' },
          },
        ])
      }
    }
    const many = JSON.stringify({
      data: { type: 'teams', attributes: { name: 'a', x: Array(100_000).fill(0) } },
    })
    const refused = await client.post(`/organizations/${attacker.name}/teams`, many)
    expect([refused.status, refused.json.errors[0].detail]).toEqual([
      422,
      'the body holds more than 50000 values',
    ])
    const allowed = JSON.stringify({
      data: { type: 'teams', attributes: { name: 'quoted', x: '[[[['.repeat(50_000), '\\"{': ['\\'] } },
    })
    expect((await client.post(`/organizations/${attacker.name}/teams`, allowed)).status).toBe(200)
  })

  test.each(['[]', '{}', '[[]]', '{"a":{}}', '"\\""'])(
    'of many megabytes of %s beside what counts are taken',
    async (ignored) => {
      const workspaceId = await lockedWorkspace(attacker)
      const state = stateText(outputs)
      const attributes = JSON.stringify({ serial: 1, md5: md5Of(state), state: base64(state) })
      const filling = `${ignored},`.repeat((2 * MIB) / (ignored.length + 1))
      const text = `{"x":[${filling}0],"data":{"y":[${filling}0],"type":"state-versions","attributes":${attributes}}}`
      const made = await attacker.owner.client.post(`/workspaces/${workspaceId}/state-versions`, text)
      expect([made.status, made.json.data?.attributes.status]).toEqual([201, 'finalized'])
    },
  )
})

onEachEngine('slow bodies', { uploadIdleSeconds: '1' }, (server) => {
  let organization: TestOrganization
  beforeAll(async () => {
    organization = await createTestOrganization(server)
  })

  const paths = async (): Promise<SentRequest[]> => {
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const pending = await postState(client, workspaceId, stateText(outputs))
    const url = pending.json.data.attributes['hosted-state-upload-url'] as string
    const other = await createWorkspace(organization)
    await lock(client, other)
    const path = `/api/v2/workspaces/${other}/state-versions`
    const { token } = client
    return [
      { method: 'PUT', path: url, length: MIB },
      { method: 'POST', path, token, length: 20 * MIB },
      { method: 'POST', path: `/api/v2/organizations/${organization.name}/teams`, token, length: 1_000 },
      { method: 'POST', path: `/api/v2/organizations/${organization.name}/teams`, token },
    ]
  }

  test('end with 408 when nothing more comes, or next to nothing', async () => {
    const requests = await paths()
    const senders = requests.flatMap((request) => [false, true].map((trickles) => ({ request, trickles })))
    const ended = senders.map(async ({ request, trickles }) => {
      const sender = new Sender(server.address, request)
      await sender.send('{')
      const trickle = trickles ? setInterval(() => void sender.send(' '), 100) : undefined
      await sender.answered()
      clearInterval(trickle)
      sender.stop()
      return sender
    })
    for (const { status, received } of await Promise.all(ended)) {
      expect(status).toBe(408)
      expect(received).toMatch(/connection: close\r\n/i)
      expect(received).toContain('the body arrived too slowly')
    }
    expect(server.app.deps.bytesInFlight.taken).toBe(0)
  })
})
