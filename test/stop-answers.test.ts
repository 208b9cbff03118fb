import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startServer } from './support/server.ts'
import { lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace } from './support/world.ts'

/** More than the buffers of both ends of a connection hold. */
const LONG_BYTES = 32 * 1024 * 1024

const file = (name: string) => resolve(import.meta.dirname, 'data/tls', name)
const certificate = { tlsCert: file('cert.pem'), tlsKey: file('key.pem') }
/** Much longer than the pauses between two looks for idle connections. */
const WRITE_MS = 700

test.each([
  { name: 'HTTP', settings: {}, headers: '' },
  { name: 'HTTP with an expectation', settings: {}, headers: 'Expect: something\r\n' },
  { name: 'HTTPS', settings: certificate, headers: '' },
])('a server that stops still answers a slow request over $name', async ({ settings, headers }) => {
  const server = await startServer('sqlite', settings)
  const port = Number(new URL(server.address).port)
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
  const isSecure = 'tlsCert' in settings
  const socket = isSecure ? connectSecurely(options) : connect(options)
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  let text = ''
  socket.on('data', (bytes) => (text += String(bytes)))
  const closed = once(socket, 'close')
  // SQLite has one writer, so the request waits for this one.
  const slow = server.app.deps.database.write(() => pause(WRITE_MS))
  await pause(50)
  const data = { type: 'organizations', attributes: { name: 'acme', email: 'o@example.com' } }
  const body = JSON.stringify({ data })
  socket.write(
    `POST /api/v2/organizations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${server.admin.token}\r\n` +
      `Content-Type: application/vnd.api+json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  await pause(100)
  const stopped = server.stop()
  await Promise.all([slow, closed, stopped])
  expect(text).toMatch(/^HTTP\/1\.1 201 /)
})

test('a server that stops waits for no TLS connection without a request', async () => {
  const server = await startServer('sqlite', certificate)
  const port = Number(new URL(server.address).port)
  const silent = connect(port, '127.0.0.1')
  const half = connect(port, '127.0.0.1')
  half.write(Buffer.from([22, 3, 1]))
  const unused = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const used = connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false })
  used.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  for (const socket of [silent, half, unused, used]) socket.on('error', () => {})
  expect(String((await once(used, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  const closed = [silent, half, unused, used].map((socket) => once(socket.resume(), 'close'))
  const start = performance.now()
  await server.stop()
  expect(performance.now() - start).toBeLessThan(10_000)
  await Promise.all(closed)
})

test('half a minute after the port closed, a TLS handshake that goes on for ever is cut', async () => {
  const server = await startServer('sqlite', certificate)
  const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
  const closed = new Promise((end) => socket.on('error', () => {}).on('close', end))
  // The start of a message that has 8 KiB.
  socket.write(Buffer.from([22, 3, 1, 32, 0, 1, 0, 31, 252, 3, 3]))
  const trickle = setInterval(() => socket.write(Buffer.from([0])), 5)
  onTestFinished(() => clearInterval(trickle))
  await pause(100)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const stopped = server.stop()
  vi.advanceTimersByTime(30_000)
  vi.useRealTimers()
  const start = performance.now()
  await Promise.all([stopped, closed])
  expect(performance.now() - start).toBeLessThan(5_000)
})

test('half a minute after the port closed, an answer to HTTP/1.0 is cut so that it does not look whole', async () => {
  const server = await startServer('sqlite')
  const organization = await createTestOrganization(server)
  const { client } = organization.owner
  const workspaceId = await createWorkspace(organization)
  await lock(client, workspaceId)
  const filler = randomBytes(LONG_BYTES / 2).toString('hex')
  const state = stateText('{}').replace('"check_results"', `"filler":"${filler}","check_results"`)
  const { attributes, id } = (await postState(client, workspaceId, state)).json.data
  await client.request('PUT', attributes['hosted-state-upload-url'], state)
  const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
  const ended = new Promise((end) => socket.on('error', () => end('cut')).on('end', () => end('whole')))
  socket.write(
    `GET /api/v2/state-versions/${id}/download HTTP/1.0\r\nAuthorization: Bearer ${client.token}\r\n\r\n`,
  )
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /)
  socket.pause()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const stopped = server.stop()
  vi.advanceTimersByTime(30_000)
  vi.useRealTimers()
  await stopped
  socket.resume()
  expect(await ended).toBe('cut')
})
