import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { resolve as resolvePath } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Connections } from '../src/http/connections.ts'
import { answerMalformed } from '../src/http/malformed.ts'

const TIMEOUT_MS = 300
const MOST = 1_000

/** Starts a server with a short limit, because the real half minute is too long for a test. */
async function serve(listener: RequestListener): Promise<() => Promise<Socket>> {
  const server = createServer(listener)
  server.setTimeout(TIMEOUT_MS)
  server.keepAliveTimeout = TIMEOUT_MS
  new Connections(MOST, () => {}).follow(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return () =>
    new Promise((resolve) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => resolve(socket))
      socket.on('error', () => {})
    })
}

const closed = (socket: Socket) =>
  new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')))

test('an answer may take longer than a connection may be silent', async () => {
  const open = await serve((request, response) => {
    request.resume()
    setTimeout(() => response.write('part'), 4 * TIMEOUT_MS)
    setTimeout(() => response.end(' and rest'), 8 * TIMEOUT_MS)
  })
  const socket = await open()
  let text = ''
  socket.on('data', (bytes) => (text += bytes))
  const end = closed(socket)
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab')
  await end
  expect(text).toMatch(/part[^]* and rest/)
})

test('a client who stops in the middle of a body, or takes nothing of an answer, is hung up on', async () => {
  const open = await serve((request, response) => {
    request.resume()
    if (request.url === '/large') response.end(Buffer.alloc(64 * 1024 * 1024))
  })
  const sender = await open()
  sender.resume()
  sender.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na')
  const reader = await open()
  reader.pause().write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')
  await closed(sender)
  await pause(4 * TIMEOUT_MS)
  reader.resume()
  let bytes = 0
  reader.on('data', (part) => (bytes += part.length))
  await closed(reader)
  expect(bytes).toBeLessThan(64 * 1024 * 1024)
})

test('a connection without a request is closed after the time that it is kept', async () => {
  const open = await serve((_, response) => response.end('done'))
  const socket = await open()
  socket.resume()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  expect(await closed(socket)).toBe('closed')
})

test.each([
  { name: 'nothing', bytes: [] },
  { name: 'half of a handshake', bytes: [22, 3, 1] },
])('a TLS connection that sends $name is closed after the time of a handshake', async ({ bytes }) => {
  const pem = (name: string) => readFileSync(resolvePath(import.meta.dirname, 'data/tls', name))
  const options = { cert: pem('cert.pem'), key: pem('key.pem'), handshakeTimeout: TIMEOUT_MS }
  const server = createSecureServer(options, (_, response) => response.end())
  // As the server of the interface does.
  server.on('clientError', (error: Error, socket: Socket) => answerMalformed(error, socket))
  new Connections(MOST, () => {}).follow(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  if (bytes.length > 0) socket.write(Buffer.from(bytes))
  expect(await Promise.race([closed(socket.resume()), pause(10 * TIMEOUT_MS, 'open')])).toBe('closed')
})
