import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Client } from './support/client.ts'
import { engines, type Engine } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, settingsFor, type Settings } from './support/purser.ts'
import { isLong, longTimeout } from './support/runs.ts'
import { body, uniqueName } from './support/world.ts'

const RUNS = isLong ? 100 : 1
const CLIENTS = 16
/** Long enough for a busy machine to handle some requests. */
const DRAIN_SECONDS = 2

/** `refusedAt` has the time of each connection that was refused. */
type Outcome = { answers: number; closing: number; broken: string[]; refusedAt: number[] }

/** A POST if there is something to send, else a GET. */
function send(agent: Agent, url: string, sent?: object): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/vnd.api+json' }
  return new Promise((resolve, reject) => {
    request(url, { agent, headers, method: sent === undefined ? 'GET' : 'POST' }, (response) => {
      response.on('end', () => resolve(response)).on('error', reject)
      response.resume()
    })
      .on('error', reject)
      .end(sent === undefined ? undefined : JSON.stringify(sent))
  })
}

/** Repeats requests over one connection until the port is closed: creates teams if there is an organization, else reads. */
async function ask(address: string, organization: string | undefined, outcome: Outcome): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    try {
      const { statusCode, headers } = await (organization === undefined
        ? send(agent, `${address}/api/v2/account/details`)
        : send(
            agent,
            `${address}/api/v2/organizations/${organization}/teams`,
            body('teams', { name: uniqueName('team') }),
          ))
      if (statusCode !== 200) outcome.broken.push(`status ${statusCode}`)
      outcome.answers += 1
      if (headers.connection === 'close') outcome.closing += 1
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ECONNREFUSED') outcome.refusedAt.push(performance.now())
      else outcome.broken.push(String(code))
      agent.destroy()
      return
    }
  }
}

async function settings(seconds: number, engine: Engine = 'sqlite'): Promise<Settings> {
  return {
    ...(await settingsFor(engine)),
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    PURSER_DRAIN_SECONDS: String(seconds),
  }
}

const servers = engines.flatMap((engine) => [
  { engine, name: 'one process', args: ['serve'] },
  { engine, name: 'workers', args: ['serve', '--workers', '2'] },
])

describe.each(servers)('SIGTERM to $name on $engine', ({ engine, args }) => {
  test(
    `${CLIENTS} busy clients see no broken answer, ${RUNS} times`,
    async () => {
      for (let run = 0; run < RUNS; run++) {
        const purser = new Purser(args, await settings(DRAIN_SECONDS, engine))
        const address = await purser.address()
        const organization = uniqueName('organization')
        const attributes = { name: organization, email: 'o@example.com' }
        const made = await new Client(address, ADMIN_TOKEN).post(
          '/organizations',
          body('organizations', attributes),
        )
        expect(made.status).toBe(201)
        const outcome: Outcome = { answers: 0, closing: 0, broken: [], refusedAt: [] }
        const clients = Array.from({ length: CLIENTS }, (_, n) =>
          ask(address, n % 4 === 0 ? organization : undefined, outcome),
        )
        await pause(300)
        const signalledAt = performance.now()
        purser.child.kill('SIGTERM')
        const plain = new Client(address)
        while ((await plain.get(`${address}/readyz`)).status === 200) await pause(5)
        // The port is still open and requests are answered. Only /readyz tells load balancers to go elsewhere.
        const alive = await send(new Agent(), `${address}/healthz`)
        expect([alive.statusCode, alive.headers.connection]).toEqual([200, 'close'])
        await Promise.all(clients)
        expect(await purser.ended).toBe(0)
        expect(outcome.broken).toEqual([])
        // The port stays open for the whole drain. A slow machine only makes a refusal later, but timers round.
        expect(Math.min(...outcome.refusedAt) - signalledAt).toBeGreaterThan(DRAIN_SECONDS * 1_000 - 50)
        expect(outcome.closing).toBeGreaterThan(0)
      }
    },
    longTimeout,
  )
})

describe('the end of a server', () => {
  test('waits for nobody after SIGINT, nor after a second signal', async () => {
    const patient = await settings(3_600)
    const first = new Purser(['serve'], patient)
    await first.address()
    first.child.kill('SIGINT')
    expect(await first.ended).toBe(0)
    const second = new Purser(['serve', '--workers', '2'], patient)
    await second.address()
    second.child.kill('SIGTERM')
    // Signals in quick succession count as one, because npm and a terminal send two.
    second.child.kill('SIGTERM')
    await pause(1_000)
    expect(second.child.exitCode).toBeNull()
    const repeat = setInterval(() => second.child.kill('SIGTERM'), 1_000)
    expect(await second.ended).toBe(0)
    clearInterval(repeat)
  })

  test('comes earlier if nobody is connected, or asks for anything', async () => {
    const [left, used] = [new Purser(['serve'], await settings(8)), new Purser(['serve'], await settings(8))]
    await left.address()
    const { hostname, port } = new URL(await used.address())
    const socket = connect(Number(port), hostname)
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.on('error', () => {}).write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
    await new Promise((resolve) => socket.once('data', resolve))
    used.child.kill('SIGTERM')
    left.child.kill('SIGTERM')
    expect(await left.ended).toBe(0)
    expect(used.child.exitCode).toBeNull()
    expect(await used.ended).toBe(0)
    socket.destroy()
  })

  test('does not wait for connections on which nobody ever asked for anything', async () => {
    const purser = new Purser(['serve'], await settings(0))
    const { hostname, port } = new URL(await purser.address())
    const socket = connect(Number(port), hostname)
    const isClosed = new Promise((resolve) => socket.on('close', resolve).on('error', () => {}))
    await new Promise((resolve) => socket.once('connect', resolve))
    purser.child.kill('SIGTERM')
    await isClosed
    expect(await purser.ended).toBe(0)
    // The server must not have cut connections off after half a minute.
    expect(purser.stdout).not.toContain('were cut off')
  })
})
