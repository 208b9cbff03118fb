import { request } from 'node:http'
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { expositionOf } from '../src/metrics/exposition.ts'
import { metricsOf } from '../src/metrics/server-metrics.ts'
import { Client } from './support/client.ts'
import { engines } from './support/engines.ts'
import { keptLog } from './support/kept-log.ts'
import { samplesOf, type Samples } from './support/metrics-page.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, type Settings } from './support/purser.ts'
import { startServer } from './support/server.ts'

const LISTENS = { PURSER_METRICS_LISTEN: '127.0.0.1:0', PURSER_ADMIN_TOKEN: ADMIN_TOKEN }

/** A server with these settings, and the address of its metrics. */
async function serve(settings: Settings): Promise<{ purser: Purser; admin: Client; metrics: string }> {
  const purser = new Purser(['serve'], { ...settings, ...LISTENS })
  const admin = new Client(await purser.address(), ADMIN_TOKEN)
  const [, metrics = ''] = await purser.says(/^metrics at (http:.*\/metrics)$/m)
  return { purser, admin, metrics }
}

async function scrape(address: string): Promise<Samples> {
  const response = await fetch(address)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return samplesOf(await response.text())
}

const requestsOf = (samples: Samples) =>
  Object.fromEntries([...samples].filter(([name]) => name.startsWith('purser_http_requests_total')))

describe.each(engines)('PURSER_METRICS_LISTEN on %s', (engine) => {
  test('counts requests by method, route and status', async () => {
    const { admin, metrics } = await serve(await settingsFor(engine))
    await admin.get('/organizations/no-such-one/teams')
    await admin.get('/organizations/nor-this-one/teams')
    await new Client(admin.address, 'bad').get('/organizations/no-such-one/teams')
    await admin.get('/no/such/path')
    await fetch(`${admin.address}/api/v2/organizations`, {
      method: 'PROPFIND',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    const samples = await scrape(metrics)
    const teams = 'method="GET",route="/api/v2/organizations/:organization_name/teams"'
    expect(requestsOf(samples)).toEqual({
      [`purser_http_requests_total{${teams},status="404"}`]: 2,
      [`purser_http_requests_total{${teams},status="401"}`]: 1,
      'purser_http_requests_total{method="GET",route="unknown",status="404"}': 1,
      'purser_http_requests_total{method="_OTHER",route="unknown",status="404"}': 1,
    })
    const duration = 'purser_http_request_duration_seconds'
    expect(samples.get(`${duration}_count{${teams}}`)).toBe(3)
    expect(samples.get(`${duration}_bucket{${teams},le="+Inf"}`)).toBe(3)
    expect(samples.get(`${duration}_sum{${teams}}`)).toBeGreaterThan(0)
    const buckets = [...samples].filter(([name]) => name.startsWith(`${duration}_bucket{${teams}`))
    const counts = buckets.map(([, count]) => count)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(samples.get('purser_http_requests_in_flight')).toBe(0)
  })

  test('shows no ids, names or tokens of anybody', async () => {
    const { admin, metrics } = await serve(await settingsFor(engine))
    await admin.get('/organizations/secret-plans/teams?q=hidden')
    await admin.get('/workspaces/ws-aaaaaaaaaaaaaaaa')
    await admin.get('/secret-plans')
    const page = await (await fetch(metrics)).text()
    expect(page).not.toMatch(/secret-plans|hidden|ws-|127\.0\.0\.1/)
    expect(page).not.toContain(ADMIN_TOKEN)
  })

  test('has the numbers of each worker', async () => {
    const { admin, metrics } = await serve({ ...(await settingsFor(engine)), PURSER_WORKERS: '2' })
    await admin.get('/organizations/no-such-one/teams')
    const samples = await scrape(metrics)
    const of = (name: string) => [...samples].filter(([sample]) => sample.startsWith(name))
    expect(Object.values(requestsOf(samples))).toEqual([1])
    for (const name of ['purser_build_info', 'purser_database_up', 'process_cpu_seconds_total']) {
      expect(of(name).map(([sample]) => /worker="(\d)"/.exec(sample)?.[1])).toEqual(['1', '2'])
    }
    expect(of('purser_http').every(([sample]) => sample.includes('worker='))).toBe(true)
  })

  test('answers nothing else, and the address of the clients has no metrics', async () => {
    const { admin, metrics } = await serve(await settingsFor(engine))
    const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status
    expect(await status(metrics, { method: 'HEAD' })).toBe(200)
    expect(await status(metrics, { method: 'POST' })).toBe(404)
    expect(await status(metrics.replace('/metrics', '/'))).toBe(404)
    expect(await status(metrics.replace('/metrics', '/api/v2/ping'))).toBe(404)
    expect(await status(`${metrics}?name[]=x`)).toBe(200)
    expect((await admin.get('/metrics')).status).toBe(404)
    expect((await admin.get(new URL('/metrics', admin.address).href)).status).toBe(404)
    expect(await status(new URL('/metrics', admin.address).href)).toBe(401)
    const { hostname, port } = new URL(metrics)
    const sockets = Array.from({ length: 25 }, () => connect(Number(port), hostname).on('error', () => {}))
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    const closed = () => sockets.filter((socket) => socket.closed).length
    await expect.poll(closed).toBe(5)
    // The others stay open, and keep nobody away.
    expect(await status(metrics)).toBe(200)
  })

  test('must be a port that is free, before anything is written', async () => {
    const settings = await settingsFor(engine)
    const { metrics } = await serve(await settingsFor(engine))
    const { host } = new URL(metrics)
    const taken = await run(['serve'], { ...settings, PURSER_METRICS_LISTEN: host })
    expect(taken).toMatchObject({ code: 1, stdout: '' })
    expect(taken.stderr).toMatch(/in use .* choose another with PURSER_METRICS_LISTEN\n$/)
    const same = { ...settings, PURSER_LISTEN: '127.0.0.1:1', PURSER_METRICS_LISTEN: '0.0.0.0:1' }
    expect((await run(['serve'], same)).stderr).toBe(
      'purser: PURSER_METRICS_LISTEN must have another port than PURSER_LISTEN\n',
    )
  })
})

onEachEngine('metrics', { metricsListen: '127.0.0.1:0' }, (server, engine) => {
  test('show requests in progress, connections, and bytes in flight', async () => {
    const { deps } = server.app
    const read = metricsOf(deps)
    const samples = async () => samplesOf(expositionOf(await read()))
    const { promise: end, resolve: goOn } = Promise.withResolvers<void>()
    onTestFinished(() => goOn())
    const first = deps.database.write(() => end)
    const bytes = deps.bytesInFlight.take(1_000, [])
    const upload = request(`${server.address}/api/v2/organizations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.admin.token}`, 'content-length': 10 },
    })
    upload.on('error', () => {})
    upload.flushHeaders()
    const inFlight = async () => (await samples()).get('purser_http_requests_in_flight')
    await expect.poll(inFlight).toBe(1)
    const second = deps.database.write(() => end)
    const during = await samples()
    expect(during.get('purser_http_connections')).toBeGreaterThan(0)
    expect(during.get('purser_bytes_in_flight')).toBeGreaterThanOrEqual(1_000)
    const [name, least] =
      engine === 'postgres'
        ? ['purser_database_connections{state="used"}', 2]
        : ['purser_database_waiting_requests', 1]
    await expect.poll(async () => (await samples()).get(name)).toBeGreaterThanOrEqual(least)
    upload.destroy()
    bytes.release()
    goOn()
    await Promise.all([first, second])
    await expect.poll(inFlight).toBe(0)
    const after = await samples()
    expect(after.get('purser_bytes_in_flight')).toBe(0)
    expect(after.get('purser_database_waiting_requests')).toBe(0)
  })
})

test('metrics and the log say that requests were answered 503 because of others', async () => {
  const { log, lines } = keptLog()
  const server = await startServer('sqlite', {}, log)
  onTestFinished(() => server.stop())
  const { deps } = server.app
  const held = deps.bytesInFlight.take(deps.bytesInFlight.limit - 1, [])
  const statuses: number[] = []
  for (let count = 0; count < 3; count++)
    statuses.push((await server.admin.post('/organizations', {})).status)
  expect(statuses).toEqual([503, 503, 503])
  held.release()
  const samples = samplesOf(expositionOf(await metricsOf(deps)()))
  expect(samples.get('purser_http_overloads_total{of="memory"}')).toBe(3)
  expect(samples.get('purser_http_overloads_total{of="database"}')).toBe(0)
  expect(lines).toMatchObject([
    {
      msg: 'requests were answered 503, because there were too many at once',
      of: 'memory',
      detail: expect.stringMatching(/^the server is busy with other large bodies/),
      times: 1,
    },
  ])
})

test('metrics say that the database is away', async () => {
  const server = await startServer('sqlite')
  onTestFinished(() => server.stop())
  const read = metricsOf(server.app.deps)
  const up = async () => samplesOf(expositionOf(await read())).get('purser_database_up')
  expect(await up()).toBe(1)
  const other = new DatabaseSync(join(server.folder, 'purser.sqlite'))
  other.exec('begin immediate')
  await server.client().get(`${server.address}/readyz`)
  expect(await up()).toBe(0)
  other.close()
  await expect.poll(up, { timeout: 20_000 }).toBe(1)
})
