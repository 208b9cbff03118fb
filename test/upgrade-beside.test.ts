// An older release works on while a newer one migrates the database and serves beside it: the release before and this
// code, and this code and itself with a later migration. With SQLite only one release can run at a time.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client as PostgresClient } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { existing } from '../src/core/existing.ts'
import { SQLITE_FILE } from '../src/database/open.ts'
import { Client } from './support/client.ts'
import { engines, onlyPostgres } from './support/engines.ts'
import { LATER_INDEX, LATER_MIGRATION, withLaterMigration } from './support/later-migration.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, type Settings } from './support/purser.ts'
import { unpackReleaseBefore } from './support/release-before.ts'
import { output, seeded } from './support/seeded.ts'
import { base64, postState, processed, stateText } from './support/states.ts'
import { tablesOf } from './support/tables-of.ts'
import { body } from './support/world.ts'

type Worker = { readonly statuses: Set<number>; readonly made: string[]; readonly ended: Promise<void> }

/** Reads and writes until the signal ends it. */
function startWorker(address: string, token: string, name: string, signal: AbortSignal): Worker {
  const statuses = new Set<number>()
  const made: string[] = []
  const ended = work(address, token, name, signal, { statuses, made })
  // A failure is reported where the end is awaited.
  ended.catch(() => {})
  return { statuses, made, ended }
}

async function work(
  address: string,
  token: string,
  name: string,
  signal: AbortSignal,
  seen: Omit<Worker, 'ended'>,
): Promise<void> {
  const client = new Client(address, token, false)
  const workspaces = '/organizations/demo/workspaces'
  const memberships = '/organizations/demo/organization-memberships'
  const request = async (answer: ReturnType<Client['get']>) => {
    const { status, text, json } = await answer
    if (status >= 300) throw new Error(`${name} was answered ${status}: ${text}`)
    seen.statuses.add(status)
    return json
  }
  const { data } = await request(client.get(`${workspaces}/database`))
  const { data: projects } = await request(client.get('/organizations/demo/projects'))
  for (let number = 0; !signal.aborted; number += 1) {
    const attributes = { name: `${name}-${number}` }
    const team = await request(
      client.post('/organizations/demo/teams', { data: { type: 'teams', attributes } }),
    )
    seen.made.push(attributes.name)
    await request(client.get(`/teams/${team.data.id}`))
    await request(client.get(workspaces))
    await request(client.get(`/workspaces/${data.id}`))
    await request(client.get(`/workspaces/${data.id}/current-state-version-outputs`))
    const workspace = { data: { type: 'workspaces', attributes: { description: attributes.name } } }
    await request(client.patch(`/workspaces/${data.id}`, workspace))
    const { data: other } = await request(
      client.post(workspaces, { data: { type: 'workspaces', attributes } }),
    )
    const target = `/projects/${projects[number % projects.length].id}/relationships/workspaces`
    await request(client.post(target, { data: [{ type: 'workspaces', id: other.id }] }))
    await request(client.post(`/workspaces/${other.id}/actions/lock`))
    const state = stateText(`{"name": {"value": "${attributes.name}", "type": "string"}}`)
    await request(postState(client, other.id, state, { state: base64(state) }))
    await request(client.post(`/workspaces/${other.id}/actions/unlock`))
    const invitation = body('organization-memberships', { email: `${attributes.name}@example.com` })
    const { data: invited } = await request(client.post(memberships, invitation))
    const { data: project } = await request(
      client.post('/organizations/demo/projects', body('projects', attributes)),
    )
    if (number % 2 === 0) {
      await request(client.delete(`/projects/${project.id}`))
      await request(client.delete(`/workspaces/${other.id}`))
      await request(client.delete(`/organization-memberships/${invited.id}`))
    }
  }
}

/** Waits until each of them has made two teams more, or has failed. */
async function untilBusy(workers: readonly Worker[]): Promise<void> {
  const before = workers.map(({ made }) => made.length)
  const ready = vi.waitUntil(
    () => workers.every(({ made }, number) => made.length >= (before[number] ?? 0) + 2),
    60_000,
  )
  await Promise.race([ready, Promise.all(workers.map(({ ended }) => ended)).then(() => ready)])
}

/** What an owner takes away on one of two nodes, the other one refuses at once, although it has read the same before. */
async function expectRevocations(addresses: readonly [string, string], owner: string, carl: string) {
  const own = new Client(addresses[0], owner, false)
  const { id } = (await own.get('/organizations/demo/workspaces/database')).json.data
  const teams = await own.get('/organizations/demo/teams?filter[names]=security')
  const members = `/teams/${teams.json.data[0].id}/relationships/users`
  for (const [there, here] of [addresses, addresses.toReversed()] as const) {
    const read = () => new Client(there, carl, false).get(`/workspaces/${id}/current-state-version`)
    const change = async (method: 'POST' | 'DELETE') => {
      const users = { data: [{ type: 'users', id: 'carl' }] }
      const { status, text } = await new Client(here, owner, false).request(method, members, users)
      expect(status, text).toBe(204)
    }
    for (let number = 0; number < 4; number++) expect((await read()).status).toBe(200)
    await change('DELETE')
    expect((await read()).status).toBe(404)
    await change('POST')
    expect((await read()).status).toBe(200)
  }
}

test('a release that starts later on SQLite is followed by the one before', async () => {
  const settings = await settingsFor('sqlite')
  await seeded(settings)
  const migrated = async () =>
    JSON.parse(await output(['migrate', '--json'], { ...settings, ...withLaterMigration }))
  expect(await migrated()).toEqual({ migrated: [LATER_MIGRATION], indexes: [LATER_INDEX] })
  const file = new DatabaseSync(join(existing(settings['PURSER_DATA']), SQLITE_FILE))
  file.exec(`drop index ${LATER_INDEX}`)
  file.close()
  const examined = await run(['doctor'], { ...settings, ...withLaterMigration })
  expect(examined.stdout + examined.stderr).toContain(`lacks the indexes ${LATER_INDEX}`)
  expect(await migrated()).toEqual({ migrated: [], indexes: [LATER_INDEX] })
  const old = new Purser(['serve'], settings)
  await old.address()
  expect(old.stdout + old.stderr).toContain(`the newer migrations ${LATER_MIGRATION}`)
})

type Pair = {
  readonly what: string
  /** Returns the path of its `main.js`. */
  readonly older: () => string | undefined
  readonly newerSettings: Settings
  /** What the newer one prints at its start beside its address, and the older one at its start after it. */
  readonly newerSays: readonly string[]
  readonly olderSays: readonly string[]
}
const pairs: readonly Pair[] = [
  {
    what: 'the release before and this code',
    older: unpackReleaseBefore,
    newerSettings: {},
    newerSays: ['made the indexes users_listed'],
    olderSays: [],
  },
  {
    what: 'this code and a later migration',
    older: () => undefined,
    newerSettings: withLaterMigration,
    newerSays: [`made the indexes ${LATER_INDEX}`],
    olderSays: [`the newer migrations ${LATER_MIGRATION}`],
  },
]

describe.each(onlyPostgres)('two releases on one %s', (engine) => {
  test.each(pairs)(
    '$what: people work while the newer one starts, serves, and is taken back',
    async (pair) => {
      const main = pair.older()
      const settings = await settingsFor(engine)
      const newer = { ...settings, ...pair.newerSettings }
      const { anna, carl } = (await seeded(settings, main)) as { anna: string; carl: string }
      const old = new Purser(['serve'], settings, { main })
      const oldAddress = await old.address()
      const listedBy = async (client: Client, query = '') =>
        (await client.get(`/organizations/demo/projects${query}`)).json.meta.pagination['total-count']
      const projectsBefore = await listedBy(new Client(oldAddress, anna, false))
      const [onOld, onNew] = [new AbortController(), new AbortController()]
      const onOldOnes = [0, 1, 2].map((number) =>
        startWorker(oldAddress, anna, `old-${number}`, onOld.signal),
      )
      await untilBusy(onOldOnes)

      const next = new Purser(['serve'], newer)
      const newAddress = await next.address()
      for (const words of pair.newerSays)
        await vi.waitUntil(() => next.stdout.includes(words), { timeout: 60_000 })
      const onNewOnes = [0, 1].map((number) => startWorker(newAddress, anna, `new-${number}`, onNew.signal))
      const seen = [...onOldOnes, ...onNewOnes]
      await untilBusy(seen)
      await expectRevocations([oldAddress, newAddress], anna, carl)
      onNew.abort()
      await Promise.all(onNewOnes.map(({ ended }) => ended))
      expect(await next.stop()).toBe(0)
      await untilBusy(onOldOnes)
      onOld.abort()
      await Promise.all(seen.map(({ ended }) => ended))
      for (const { statuses } of seen) expect(statuses).toEqual(new Set([200, 201, 204]))
      expect(await old.stop()).toBe(0)

      const again = new Purser(['serve'], settings, { main })
      const client = new Client(await again.address(), anna, false)
      for (const words of pair.olderSays) expect(again.stdout + again.stderr).toContain(words)
      for (const { made } of seen) {
        for (const name of [made[0], made.at(-1)]) {
          const { json } = await client.get(`/organizations/demo/teams?filter[names]=${name}`)
          expect(json.data).toHaveLength(1)
        }
        // The workspaces with even numbers were deleted.
        const kept = made.at(made.length % 2 === 0 ? -1 : -2)
        const { id } = (await client.get(`/organizations/demo/workspaces/${kept}`)).json.data
        const outputs = await processed(client, `/workspaces/${id}/current-state-version-outputs`)
        expect(outputs.json.data[0].attributes.value).toBe(kept)
      }
      const { json } = await client.get('/organizations/demo/teams')
      const made = seen.flatMap((each) => each.made).length
      expect(json.meta.pagination['total-count']).toBeGreaterThan(made)
      expect((await run(['audit', 'verify'], settings)).code).toBe(0)

      await again.stop()
      const last = new Purser(['serve'], newer)
      const counting = new Client(await last.address(), anna)
      const { json: projects } = await counting.get('/organizations/demo/projects')
      expect(projects.data.length).toBeGreaterThan(1)
      for (const { id, attributes } of projects.data) {
        if (/^(old|new)-/.test(attributes.name)) continue
        // The triggers keep the number, also of what the older release wrote. A search counts the rows.
        const path = `/organizations/demo/workspaces?filter[project][id]=${id}&search[wildcard-name]=*`
        const { 'total-count': total } = (await counting.get(path)).json.meta.pagination
        expect(total).toBeGreaterThan(0)
        expect(attributes['workspace-count']).toBe(total)
      }
      const madeByOld = await listedBy(counting, '?q=old-')
      const madeByNew = await listedBy(counting, '?q=new-')
      expect(madeByOld).toBeGreaterThan(0)
      expect(await listedBy(counting)).toBe(projectsBefore + madeByOld + madeByNew)
      const members = async (query: string) =>
        (await counting.get(`/organizations/demo/organization-memberships${query}`)).json.meta.pagination
      // The list reads what the triggers keep. A search counts, and every address contains this.
      const { 'total-count': counted } = await members('?q=@')
      expect(counted).toBeGreaterThan(made / 2)
      expect(await members('')).toMatchObject({ 'total-count': counted })
    },
  )
})

test.each(onlyPostgres)(
  'on %s, a server answers while an index waits for the end of a transaction',
  async (engine) => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    await output(['migrate'], settings)
    const other = new PostgresClient(existing(settings['PURSER_DATABASE_URL']))
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('drop index users_listed')
    await other.query('begin isolation level repeatable read')
    await other.query('select from users')
    const purser = new Purser(['serve'], settings)
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const says = (words: string) => vi.waitUntil(() => purser.stdout.includes(words), { timeout: 60_000 })
    await says('making the indexes users_listed …')
    expect((await client.get('/admin/users')).status).toBe(200)
    expect(purser.stdout).not.toContain('made the indexes')
    expect((await run(['doctor'], settings)).stdout).toContain('lacks the indexes users_listed')
    await other.query('rollback')
    await says('made the indexes users_listed')
    expect((await run(['doctor'], settings)).stdout).not.toContain('lacks the indexes')
  },
)

test.each(engines)(
  'on %s, a database of the release before gets the tables that a new one has',
  async (engine) => {
    const [older, made] = [await settingsFor(engine), await settingsFor(engine)]
    await output(['migrate'], older, unpackReleaseBefore())
    await output(['migrate'], older)
    await output(['migrate'], made)
    expect(await tablesOf(older)).toEqual(await tablesOf(made))
  },
)
