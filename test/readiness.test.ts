import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import pino from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onlyPostgres } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { startServer, type TestServer } from './support/server.ts'
import { body } from './support/world.ts'

/** Much more than the server needs, because the machine may be busy. */
const PATIENCE_MS = 20_000

async function readiness(server: TestServer): Promise<number> {
  const response = await server.client().get(`${server.address}/readyz`)
  if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1')
  return response.status
}

async function becomes(server: TestServer, status: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while ((await readiness(server)) !== status) {
    if (performance.now() > end) throw new Error(`/readyz did not become ${status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function linesOf(): { log: pino.Logger; lines: string[] } {
  const lines: string[] = []
  return { log: pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line).msg) }), lines }
}

const AWAY = 'the database is away: requests are answered 503 until it is back'
const BACK = 'the database is back'
const RESTARTED = 'PostgreSQL was restarted, or its address leads to another server'

test('on SQLite /readyz is red while nothing can be written, and green again by itself', async () => {
  const { log, lines } = linesOf()
  const server = await startServer('sqlite', {}, log)
  onTestFinished(() => server.stop())
  expect(await readiness(server)).toBe(200)
  const other = new DatabaseSync(join(server.folder, 'purser.sqlite'))
  other.exec('begin immediate')
  await becomes(server, 503)
  // Reads do not need the lock, and the process is alive.
  expect((await server.admin.get('/account/details')).status).toBe(200)
  expect((await server.admin.get(`${server.address}/healthz`)).status).toBe(200)
  other.exec('rollback')
  other.close()
  await becomes(server, 200)
  expect(lines).toEqual([AWAY, BACK])
})

describe.each(onlyPostgres)('on %s /readyz is red, and green again, when', (engine) => {
  const serve = async (port?: (cluster: PostgresCluster) => Promise<number>) => {
    const cluster = await PostgresCluster.start()
    onTestFinished(() => cluster.remove())
    const { log, lines } = linesOf()
    const server = await startServer(engine, { databaseUrl: cluster.url(await port?.(cluster)) }, log)
    onTestFinished(() => server.stop())
    expect(await readiness(server)).toBe(200)
    return { cluster, server, lines }
  }

  test('the server stops, hangs, or takes no writes', async () => {
    const { cluster, server, lines } = await serve()
    for (const [fail, repair, between] of [
      [() => cluster.stop('fast'), () => cluster.start(), [RESTARTED]],
      [() => cluster.stop('immediate'), () => cluster.start(), [RESTARTED]],
      [() => cluster.hang(), () => cluster.goOn(), []],
      [() => readOnly(cluster, 'on'), () => readOnly(cluster, 'off'), []],
    ] as const) {
      lines.length = 0
      await fail()
      await becomes(server, 503)
      await repair()
      await becomes(server, 200)
      expect(lines).toEqual([AWAY, ...between, BACK])
    }
  })

  test('the database takes no writes, and it says so, as each write does', async () => {
    const { cluster, server } = await serve()
    await readOnly(cluster, 'on')
    await becomes(server, 503)
    const ready = await server.client().get(`${server.address}/readyz`)
    const attributes = { name: 'acme', email: 'o@example.com' }
    const write = await server.admin.post('/organizations', body('organizations', attributes))
    for (const { status, json } of [ready, write]) {
      expect([status, json.errors[0].detail]).toEqual([503, 'the database takes no changes at the moment'])
    }
    expect((await server.admin.get('/account/details')).status).toBe(200)
  })

  test('the network swallows everything', async () => {
    let forwarder: Forwarder | undefined
    const { server, lines } = await serve(async (cluster) => {
      forwarder = await Forwarder.start(cluster.port)
      onTestFinished(() => forwarder?.close())
      return forwarder.port
    })
    forwarder?.swallow()
    await becomes(server, 503)
    forwarder?.heal()
    await becomes(server, 200)
    expect(lines).toEqual([AWAY, BACK])
  })
})

async function readOnly(cluster: PostgresCluster, value: 'on' | 'off'): Promise<void> {
  await cluster.query(`alter system set default_transaction_read_only = ${value}`)
  await cluster.query('select pg_reload_conf()')
}
