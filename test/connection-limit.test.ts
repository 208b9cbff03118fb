import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Connections } from '../src/http/connections.ts'
import { mostConnections } from '../src/operation/connection-limit.ts'
import { startServer } from './support/server.ts'

const MOST = 20
const MANY = '127.0.0.2'
const OTHER = '127.0.0.3'

type Opened = { readonly socket: Socket; text: string; isClosed: boolean }

/** Opens a connection from one of the addresses of this machine. */
async function openTo(port: number, localAddress: string, request = ''): Promise<Opened> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  const opened: Opened = { socket, text: '', isClosed: false }
  socket.on('data', (bytes) => (opened.text += bytes.toString()))
  socket.on('error', () => {})
  socket.on('close', () => (opened.isClosed = true))
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(request)
  // In the order in which the server sees them.
  await pause(5)
  return opened
}

/** A server for 20 connections. Requests to `/later` are not answered before the test ends. */
async function serve() {
  const told: [string, number][] = []
  const onRequest: RequestListener = (request, response) => {
    request.resume()
    if (request.url === '/now') response.end('now')
    if (request.url === '/large') response.end(Buffer.alloc(64 * 1024 * 1024))
  }
  const server = createServer(onRequest)
  new Connections(MOST, (address, connections) => told.push([address, connections])).follow(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { told, open: (address: string, request?: string) => openTo(port, address, request) }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const isServed = async (opened: Opened) => {
  await expect.poll(() => opened.text).toMatch(/now$/)
}
const opened = async (count: number, open: () => Promise<Opened>) => {
  const all: Opened[] = []
  for (let number = 0; number < count; number += 1) all.push(await open())
  return all
}
const places = (all: readonly Opened[]) => all.flatMap(({ isClosed }, place) => (isClosed ? [place] : []))

// Only Linux has all of 127.0.0.0/8 without being told.
describe.skipIf(process.platform !== 'linux')('when there are too many connections', () => {
  test('of the address with the most connections, the one that was unused for the longest time is closed', async () => {
    const { open, told } = await serve()
    const quiet = await open(OTHER)
    const running = await open(MANY, get('/later'))
    const idle = await opened(MOST - 2, () => open(MANY))
    // This one is older, but was just used.
    idle[0]?.socket.write(get('/now'))
    await isServed(idle[0] as Opened)
    const another = await open(OTHER, get('/now'))
    await isServed(another)
    expect(told).toEqual([[MANY, MOST - 1]])
    await expect.poll(() => places(idle)).toEqual([1])
    expect(places([quiet, running, another])).toEqual([])
  })

  test('without idle ones, those are closed that wait for their client', async () => {
    const { open } = await serve()
    const running = await opened(MOST - 2, () => open(MANY, get('/later')))
    const reading = await open(MANY, get('/large'))
    reading.socket.pause()
    const sending = await open(MANY, 'POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n')
    await isServed(await open(OTHER, get('/now')))
    await isServed(await open(OTHER, get('/now')))
    expect(places(running)).toEqual([])
    await expect.poll(() => sending.isClosed).toBe(true)
  })

  test('connections whose clients wait for an answer stay, and a new one is closed', async () => {
    const { open, told } = await serve()
    const running = await opened(MOST, () => open(MANY, get('/later')))
    const another = await open(OTHER, get('/now'))
    await expect.poll(() => another.isClosed).toBe(true)
    expect(told).toEqual([[MANY, MOST]])
    expect(places(running)).toEqual([])
  })

  test('the limit is lower if the process may open fewer files', () => {
    expect(mostConnections({ maxConnections: 16 })).toBe(16)
    // 2 ** 20 is the most that Linux allows if nobody has raised it.
    expect(mostConnections({ maxConnections: 2 ** 40 })).toBeLessThan(2 ** 30)
  })

  test('idle connections of one address keep nobody away, and the log says so once', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const server = await startServer('sqlite', { maxConnections: '16' }, log)
    onTestFinished(() => server.stop())
    const port = Number(new URL(server.address).port)
    await opened(40, () => openTo(port, MANY))
    for (let count = 0; count < 3; count += 1) {
      const asking = await openTo(port, OTHER, get('/api/v2/ping'))
      await expect.poll(() => asking.text).toMatch(/^HTTP\/1.1 204/)
    }
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] as string)).toMatchObject({ address: MANY, connections: 16 })
    expect(lines[0]).toContain('PURSER_MAX_CONNECTIONS')
  })
})
