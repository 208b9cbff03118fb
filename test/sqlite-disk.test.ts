import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, copyFileSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { Client, type Response } from './support/client.ts'
import { faultTimeout } from './support/faults/cases.ts'
import { Faults } from './support/faults/faults.ts'
import { ADMIN_TOKEN, Purser, settingsFor, temporaryFolder, type Settings } from './support/purser.ts'
import { isLong } from './support/runs.ts'
import { md5Of, postState, stateText } from './support/states.ts'
import { body, uniqueName } from './support/world.ts'

/** A server in a separate process, whose disk can fail. */
async function start(faults?: Faults, settings?: Settings) {
  const all: Settings = settings ?? {
    ...(await settingsFor('sqlite')),
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    PURSER_LOG: 'warn',
  }
  const purser = new Purser(['serve'], { ...all, ...faults?.settings })
  const client = new Client(await purser.address(), ADMIN_TOKEN)
  const folder = all.PURSER_DATA as string
  return { settings: all, purser, client, folder, logged: () => logged(purser) }
}

async function startWithFaults() {
  const folder = join(temporaryFolder(), 'data')
  const faults = new Faults(folder)
  const settings = { PURSER_DATA: folder, PURSER_LISTEN: '127.0.0.1:0', PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
  return { faults, ...(await start(faults, { ...settings, PURSER_LOG: 'warn' })) }
}

type Line = { level: number; msg: string; error?: unknown }

function logged({ stdout }: Purser): Line[] {
  return stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []))
}

async function createOrganization(client: Client): Promise<Response & { name: string }> {
  const name = uniqueName('organization')
  const made = await client.post('/organizations', body('organizations', { name, email: 'o@example.com' }))
  return { ...made, name }
}

async function organization(client: Client): Promise<string> {
  const made = await createOrganization(client)
  expect(made.status, made.text).toBe(201)
  return made.name
}

function expectOutage(response: Response, detail: RegExp): void {
  expect(response).toMatchObject({ status: 503, json: { errors: [{ status: '503' }] } })
  expect(response.headers.get('retry-after')).toBe('1')
  expect(response.json.errors[0].detail).toMatch(detail)
}

test('a page that is damaged fails the requests that read it, and no others', async () => {
  const first = await start()
  const { settings, folder } = first
  const teams = (name: string) => `/organizations/${name}/teams`
  const create = (client: Client, name: string) =>
    client.post(teams(name), body('teams', { name: uniqueName('team') }))
  // One organization after the other, so that the rows of each are in different pages.
  const withTeams = async () => {
    const name = await organization(first.client)
    const made = await Promise.all(Array.from({ length: 40 }, () => create(first.client, name)))
    for (const { status } of made) expect(status).toBe(200)
    return name
  }
  const damaged = await withTeams()
  const whole = await withTeams()
  await first.purser.stop()
  zeroFirstPage(join(folder, 'purser.sqlite'), 'teams')

  const { purser, client, logged } = await start(undefined, settings)
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => [
        client.get(teams(damaged)),
        client.get(teams(whole)),
        create(client, damaged),
        create(client, whole),
        client.get('/account/details'),
      ]).flat(),
    )
    const statuses = answers.map(({ status }) => status)
    const expected = [503, 200, 503, 200, 200]
    expect(statuses).toEqual([...expected, ...expected, ...expected, ...expected])
  }
  expect((await client.get(`${client.address}/readyz`)).status).toBe(200)
  const refused = await client.get(teams(damaged))
  expectOutage(refused, /^the database file is damaged where this request reads it$/)
  // Once, with what to do.
  expect(logged()).toEqual([
    expect.objectContaining({ level: 40, msg: expect.stringContaining('run purser doctor --content') }),
  ])
  expect(await purser.stop()).toBe(0)
})

test('a full folder for temporary files keeps nobody from writing', async () => {
  const temporary = temporaryFolder()
  const faults = new Faults(temporary)
  const settings = { ...(await settingsFor('sqlite')), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
  const { purser, client } = await start(faults, { ...settings, SQLITE_TMPDIR: temporary })
  const teams = `/organizations/${await organization(client)}/teams`
  const createAtOnce = () =>
    Promise.all(
      Array.from({ length: 64 }, () => client.post(teams, body('teams', { name: uniqueName('team') }))),
    )
  // So many that those of one commit change many pages.
  for (let round = 0; round < 8; round++) await createAtOnce()
  faults.set({ calls: ['writes'], at: 1, error: 'ENOSPC' })
  const statuses = new Set((await createAtOnce()).map(({ status }) => status))
  expect({ statuses, failed: faults.failed }).toEqual({ statuses: new Set([200]), failed: 0 })
  expect(await purser.stop()).toBe(0)
})

/** Overwrites the first leaf page of the table with zeros, as after a loss of data on the disk. */
function zeroFirstPage(file: string, table: string): void {
  const database = new DatabaseSync(file)
  const { pageno } = database
    .prepare(`select pageno from dbstat where name = ? and pagetype = 'leaf' order by path limit 1`)
    .get(table) as { pageno: number }
  const { page_size: size } = database.prepare('pragma page_size').get() as { page_size: number }
  database.exec('pragma wal_checkpoint(truncate)')
  database.close()
  const open = openSync(file, 'r+')
  writeSync(open, Buffer.alloc(size), 0, size, (pageno - 1) * size)
  closeSync(open)
}

test('reads that fail end nothing, and all is well again with the disk', async () => {
  const { purser, client, faults } = await startWithFaults()
  const name = await organization(client)
  const read = async () => (await client.get(`/organizations/${name}/teams`)).status
  const readers = Array.from({ length: 10 }, () => read)
  await Promise.all(readers.map((one) => one()))
  let met = 0
  // SQLite reports EIO as a damaged page. For any other error it rolls back the transaction of all readers.
  for (const error of ['EIO', 'ESTALE'] as const) {
    for (const [at, isOnce] of [
      [1, false],
      [1, true],
      [2, true],
      [3, true],
    ] as const) {
      // A commit of another connection, so that SQLite reads the pages again.
      await organization(client)
      faults.set({ calls: ['reads'], at, error, isOnce })
      // All requests arrive while the process is stopped, so that they share a transaction.
      purser.child.kill('SIGSTOP')
      const answers = Promise.all(readers.map((one) => one()))
      await new Promise((resolve) => setTimeout(resolve, 50))
      purser.child.kill('SIGCONT')
      const failed = (await answers).filter((status) => status !== 200)
      for (const status of failed) expect(status).toBe(503)
      if (!isOnce) expect(failed).toHaveLength(readers.length)
      // None, if a background job met the fault.
      else expect(failed.length).toBeLessThanOrEqual(1)
      met += failed.length
      faults.clear()
      expect(await read()).toBe(200)
      expect((await createOrganization(client)).status).toBe(201)
    }
  }
  expect(met).toBeGreaterThan(2 * readers.length)
  expect(await purser.stop()).toBe(0)
})

test('a full disk is 503 for writes and nothing for reads, and well again with the disk', async () => {
  const { purser, client, faults, logged } = await startWithFaults()
  const name = await organization(client)
  faults.set({ calls: ['writes'], at: 1, error: 'ENOSPC' })
  for (let round = 0; round < 20; round++) {
    const [write, read] = await Promise.all([
      createOrganization(client),
      client.get(`/organizations/${name}/teams`),
    ])
    expectOutage(write, /the disk of the database is full/)
    expect(read.status).toBe(200)
  }
  expect(faults.failed).toBeGreaterThan(0)
  const readiness = () => client.get(`${client.address}/readyz`)
  expectOutage(await readiness(), /the disk of the database is full/)
  faults.clear()
  await organization(client)
  await expect.poll(async () => (await readiness()).status, { timeout: 20_000 }).toBe(200)
  // One line for the outage and one for its end, however many requests and jobs met it.
  // They come through a pipe, a moment after the answers.
  const lines = () => logged().map(({ msg }) => msg)
  await expect
    .poll(lines, { timeout: 20_000 })
    .toEqual(['the database is away: requests are answered 503 until it is back', 'the database is back'])
  expect(await purser.stop()).toBe(0)
})

test(
  'writes and syncs that fail once are 503, and what was acknowledged survives a kill',
  async () => {
    const { purser, client, faults, settings } = await startWithFaults()
    const acknowledged: string[] = []
    const attempt = async () => {
      const made = await createOrganization(client)
      if (made.status === 201) acknowledged.push(made.name)
      else expectOutage(made, /the disk of the database/)
      return made.status
    }
    const outcomes: number[] = []
    for (const kind of ['writes', 'syncs'] as const) {
      for (const error of ['EIO', 'ENOSPC'] as const) {
        for (let at = 1; at <= (isLong ? 60 : 6); at++) {
          faults.set({ calls: [kind], at, error, isOnce: true })
          outcomes.push(...(await Promise.all([attempt(), attempt()])))
          outcomes.push(await attempt())
          faults.clear()
          expect(await attempt()).toBe(201)
        }
      }
    }
    expect(outcomes.filter((status) => status === 503).length).toBeGreaterThan(10)
    purser.child.kill('SIGKILL')
    await purser.ended
    const again = await start(undefined, settings)
    for (const name of acknowledged)
      expect((await again.client.get(`/organizations/${name}`)).status).toBe(200)
  },
  faultTimeout,
)

test('after a sync that failed, what was committed is in the file before anything else is', async () => {
  const { client, faults, folder } = await startWithFaults()
  const before = await organization(client)
  const inFile = () => {
    const copy = join(temporaryFolder(), 'purser.sqlite')
    copyFileSync(join(folder, 'purser.sqlite'), copy)
    const database = new DatabaseSync(copy)
    // The log is not copied. Without its pages the copy may not even have a table.
    const isThere = database.prepare(`select count(*) as count from sqlite_master`).get()?.count !== 0
    const names = isThere ? database.prepare('select name from organizations').all() : []
    database.close()
    return names.map(({ name }) => name)
  }
  expect(inFile()).not.toContain(before)
  faults.set({ calls: ['syncs'], at: 1, error: 'EIO', isOnce: true })
  // The request fails, unless a background write met the fault.
  await createOrganization(client)
  expect(faults.failed).toBe(1)
  await organization(client)
  expect(inFile()).toContain(before)
})

/** Creates a workspace. Returns a function that creates the next state version, ready for its upload. */
async function uploads(client: Client) {
  const path = `/organizations/${await organization(client)}/workspaces`
  const made = await client.post(path, body('workspaces', { name: 'w' }))
  const workspaceId = made.json.data.id as string
  expect((await client.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(200)
  let serial = 0
  return async () => {
    // Does not compress, so it needs more than one chunk.
    const value = randomBytes(800_000).toString('base64')
    const state = stateText(`{"large": {"type": "string", "value": "${value}"}}`, ++serial)
    const version = await postState(client, workspaceId, state)
    expect(version.status, version.text).toBe(201)
    const { pathname } = new URL(version.json.data.attributes['hosted-state-upload-url'])
    return {
      put: async () =>
        (await client.request('PUT', client.address + pathname, state).catch(() => undefined))?.status,
      isThere: async () => {
        const { text } = await client.get(`/state-versions/${version.json.data.id}/download`)
        return md5Of(text) === md5Of(state)
      },
    }
  }
}

test(
  'an upload that a fault of the disk interrupts can be repeated, and is then there',
  async () => {
    const { client, faults } = await startWithFaults()
    const next = await uploads(client)
    const whole = await next()
    faults.set({ calls: ['writes', 'syncs'] })
    expect(await whole.put()).toBe(200)
    const calls = faults.count
    expect(calls).toBeGreaterThan(10)
    const step = isLong ? 1 : Math.ceil(calls / 4)
    for (const error of ['EIO', 'ENOSPC'] as const) {
      for (let at = 1; at <= calls; at += step) {
        const upload = await next()
        faults.set({ calls: ['writes', 'syncs'], at, error, isOnce: error === 'EIO' })
        const status = await upload.put()
        faults.clear()
        if (status !== 200) {
          expect(status).toBe(503)
          expect(await upload.put()).toBe(200)
        }
        expect(await upload.isThere()).toBe(true)
      }
    }
    console.log(`faults were tried at ${calls} calls`)
  },
  faultTimeout,
)

test('without file descriptors nothing ends, and all is well once there are some', async () => {
  const { purser, client } = await start()
  const pid = String(purser.child.pid)
  const name = await organization(client)
  // Only the soft limit, which can be raised again.
  const limit = (count: number) => execFileSync('prlimit', ['--pid', pid, `--nofile=${count}:`])
  const upload = await (await uploads(client))()
  limit(readdirSync(`/proc/${pid}/fd`).length)
  // The thread that reads states cannot start.
  expect(await upload.put()).toBe(503)
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, async (_, number) => {
      const answer =
        number % 2 === 0 ? createOrganization(client) : client.get(`/organizations/${name}/teams`)
      const patience = new Promise<undefined>((resolve) => setTimeout(resolve, 2_000, undefined))
      return (await Promise.race([answer.catch(() => undefined), patience]))?.status
    }),
  )
  for (const status of outcomes) expect(status).toBeOneOf([undefined, 200, 201, 503])
  limit(1024)
  await expect.poll(async () => (await createOrganization(client)).status, { timeout: 20_000 }).toBe(201)
  expect(await upload.put()).toBe(200)
  expect(await upload.isThere()).toBe(true)
  expect(await purser.stop()).toBe(0)
})

test('nothing is written to a file that was moved or replaced, and all is well when it is back', async () => {
  const { purser, client, folder } = await start()
  const name = await organization(client)
  const away = `${folder}-away`
  const file = join(folder, 'purser.sqlite')
  const readiness = async () => (await client.get(`${client.address}/readyz`)).status
  const detail = /the file of the database was deleted, moved or replaced/
  const changes = {
    folder: { now: () => renameSync(folder, away), back: () => renameSync(away, folder) },
    file: { now: () => renameSync(file, away), back: () => renameSync(away, file) },
    replaced: {
      now: () => {
        renameSync(file, away)
        copyFileSync(away, file)
      },
      back: () => renameSync(away, file),
    },
  }
  for (const { now, back } of Object.values(changes)) {
    now()
    expectOutage(await createOrganization(client), detail)
    await expect.poll(readiness, { timeout: 5_000 }).toBe(503)
    expect((await client.get(`/organizations/${name}`)).status).toBe(200)
    back()
    await expect.poll(readiness, { timeout: 5_000 }).toBe(200)
    await organization(client)
  }
  expect(await purser.stop()).toBe(0)
})
