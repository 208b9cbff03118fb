import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { MAX_WAITING_REQUESTS } from '../src/http/pipelining.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createTestOrganization, type TestOrganization } from './support/world.ts'

onEachEngine('requests sent without waiting for answers', (server) => {
  let organization: TestOrganization
  beforeAll(async () => {
    organization = await createTestOrganization(server)
  })
  afterEach(() => vi.restoreAllMocks())

  const pipeline = (socket: Socket, paths: readonly string[]) => {
    const heads = paths.map(
      (path) =>
        `GET /api/v2${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${organization.owner.client.token}\r\n\r\n`,
    )
    socket.write(heads.join(''))
  }

  /** Delays every read of a request until it is released, and counts the reads in progress. */
  function holdReads() {
    const { database } = server.app.deps
    const read = database.read.bind(database)
    const held: (() => void)[] = []
    const counts = { now: 0, most: 0, all: 0 }
    vi.spyOn(database, 'read').mockImplementation(async (work) => {
      // Background jobs of the server read, too.
      if (new Error('caller').stack?.includes('/src/http/read-route.ts') !== true) return read(work)
      counts.now += 1
      counts.all += 1
      counts.most = Math.max(counts.most, counts.now)
      await new Promise<void>((resolve) => held.push(resolve))
      try {
        return await read(work)
      } finally {
        counts.now -= 1
      }
    })
    return { counts, release: () => held.shift()?.() }
  }

  const opened = async () => {
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
    await once(socket, 'connect')
    return socket
  }

  test('are answered in their order, one at a time', async () => {
    const { counts, release } = holdReads()
    const socket = await opened()
    let received = ''
    socket.on('data', (bytes: Buffer) => (received += bytes.toString()))
    const names = [
      organization.name,
      ...Array.from({ length: 20 }, (_, n) => `nobody-${n}`),
      organization.name,
    ]
    pipeline(
      socket,
      names.map((name) => `/organizations/${name}`),
    )
    const statuses = () => Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)
    await vi.waitFor(
      () => {
        release()
        expect(statuses()).toHaveLength(names.length)
      },
      { timeout: 10_000, interval: 1 },
    )
    expect(counts).toEqual({ now: 0, most: 1, all: names.length })
    expect(statuses()).toEqual(['200', ...Array.from({ length: 20 }, () => '404'), '200'])
    socket.destroy()
  })

  test.each([
    { name: 'bytes of no request', bytes: 'xx\r\n', statuses: ['200', '200', '400'] },
    { name: 'half a head', bytes: 'GET / HTTP/1.1\r\n', statuses: ['200', '200', '400'] },
    {
      name: 'half a body',
      bytes: 'POST /api/v2/organizations HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{',
      statuses: ['200', '200', '400'],
    },
    {
      name: 'a request behind the last one',
      bytes: 'GET /api/v2/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\n\r\n',
      statuses: ['200', '200', '204'],
    },
  ])('are answered before what is malformed behind them: $name', async ({ name, bytes, statuses }) => {
    const { counts, release } = holdReads()
    const socket = await opened()
    let received = ''
    socket.on('data', (part: Buffer) => (received += part.toString()))
    const closed = once(socket, 'close')
    const path = `/organizations/${organization.name}`
    pipeline(socket, [path, path])
    socket.write(bytes)
    if (name.startsWith('half')) socket.end()
    await vi.waitFor(() => expect(counts.all).toBe(1), { timeout: 10_000 })
    release()
    await vi.waitFor(() => expect(counts.all).toBe(2), { timeout: 10_000 })
    release()
    await closed
    expect(Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)).toEqual(statuses)
  })

  test('are not begun any more once their connection has gone', async () => {
    const { counts, release } = holdReads()
    const socket = await opened()
    pipeline(
      socket,
      Array.from({ length: 20 }, () => `/organizations/${organization.name}`),
    )
    await vi.waitFor(() => expect(counts.all).toBe(1), { timeout: 10_000 })
    socket.resetAndDestroy()
    await new Promise((resolve) => setTimeout(resolve, 50))
    release()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(counts.all).toBe(1)
  })

  test('end the connection when more wait than may', async () => {
    const { counts, release } = holdReads()
    const socket = await opened()
    const path = `/organizations/${organization.name}`
    pipeline(
      socket,
      Array.from({ length: MAX_WAITING_REQUESTS + 1 }, () => path),
    )
    await vi.waitFor(() => expect(counts.all).toBe(1), { timeout: 10_000 })
    expect(socket.destroyed).toBe(false)
    pipeline(socket, [path])
    await once(socket, 'close')
    release()
    await vi.waitFor(() => expect(counts.now).toBe(0))
    vi.restoreAllMocks()
    expect((await organization.owner.client.get(path)).status).toBe(200)
  })
})
