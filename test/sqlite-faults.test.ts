import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { backUp, readKeyFile, restore } from '../src/cli/backups.ts'
import { seed } from '../src/cli/seed.ts'
import { readConfig, type Config } from '../src/config.ts'
import { systemClock } from '../src/core/clock.ts'
import { migrations } from '../src/database/migrate.ts'
import { createLog } from '../src/operation/log.ts'
import { prepare } from '../src/operation/prepare.ts'
import { Client } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { casesOf, everyKind, everyWrite, faultTimeout, type Case, type Kind } from './support/faults/cases.ts'
import { Faults } from './support/faults/faults.ts'
import { withLaterMigration } from './support/later-migration.ts'
import { makeOlderDatabase, olderWorkspaces } from './support/older-database.ts'
import { Purser, run, temporaryFolder } from './support/purser.ts'
import { lock, postState, stateText } from './support/states.ts'
import { body, uniqueName } from './support/world.ts'

type Outcome = { code: number | string; stderr: string }

type Scenario = {
  kinds?: readonly Kind[]
  /** Fills the new folder before the run. */
  before: (folder: string) => void
  /** The run that meets the fault. */
  run: (folder: string, faults: Faults) => Promise<Outcome>
  /** Throws if the result is neither complete nor a valid start for a repetition. */
  check: (folder: string, outcome: Outcome) => Promise<void>
}

async function tryEach({ before, run: work, check, kinds = everyKind }: Scenario): Promise<void> {
  let met = 0
  const attempt = async (fault: Case | undefined): Promise<number> => {
    const folder = temporaryFolder()
    before(folder)
    const faults = new Faults(folder)
    faults.set(fault ?? { calls: everyWrite })
    const outcome = await work(folder, faults)
    const { count } = faults
    // The number of calls at the end of a run varies, so a late fault may not happen.
    if (faults.failed > 0) met++
    faults.clear()
    const about = fault === undefined ? 'without a fault' : `${fault.error} at call ${fault.at}`
    try {
      // A fault must be reported in one line.
      expect(outcome.stderr).not.toMatch(/\n +at /)
      expect(outcome.code).toBeOneOf(
        fault === undefined ? [0] : fault.error === 'KILL' ? ['SIGKILL', 0] : [0, 1],
      )
      await check(folder, outcome)
    } catch (error) {
      throw new Error(`${about}: ${String(error)}\n${outcome.stderr}`, { cause: error })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return count
  }
  const calls = await attempt(undefined)
  const cases = casesOf(calls, kinds)
  expect(cases.length).toBeGreaterThan(2)
  for (const [tried, fault] of cases.entries()) {
    if (tried > 0 && tried % 100 === 0) console.log(`${tried} of ${cases.length} faults were tried`)
    await attempt(fault)
  }
  console.log(`${cases.length} faults were tried at ${calls} calls, ${met} were met`)
}

/** With a second migration, so that there is something to upgrade to. */
const settingsOf = (folder: string) => ({
  PURSER_DATA: join(folder, 'data'),
  PURSER_LISTEN: '127.0.0.1:0',
  ...withLaterMigration,
})
const configOf = (folder: string): Config => readConfig({ data: join(folder, 'data') }, {})

function inDatabase<T>(folder: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(folder, 'data', 'purser.sqlite'))
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** The number of rows per table. */
function rowsOf(folder: string): Record<string, number> {
  return inDatabase(folder, (database) => {
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const tables = database.prepare(`select name from sqlite_master where type = 'table' order by name`).all()
    return Object.fromEntries(
      tables.map(({ name }) => [
        name,
        database.prepare(`select count(*) as count from "${String(name)}"`).get()?.count as number,
      ]),
    )
  })
}

const surroundings = { clock: systemClock, say: () => {} }

/** Starts a server like `serve`, with a client that uses the admin token from the file. */
async function whileServing(folder: string, work: (client: Client) => Promise<void>): Promise<void> {
  const { config, database } = await prepare(configOf(folder), surroundings)
  const app = createApp(config, database, createLog('silent'))
  try {
    await work(new Client(`http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`, adminToken(folder)))
  } finally {
    await app.close()
  }
}

const adminToken = (folder: string) => readFileSync(join(folder, 'data', 'admin-token'), 'utf8').trim()

async function createOrganization(client: Client): Promise<string> {
  const name = uniqueName('organization')
  const made = await client.post('/organizations', body('organizations', { name, email: 'o@example.com' }))
  expect(made.status).toBe(201)
  return name
}

async function servesAgain(folder: string): Promise<void> {
  await whileServing(folder, async (client) => void (await createOrganization(client)))
  expect(rowsOf(folder)).toMatchObject({ kysely_migration: Object.keys(migrations).length, users: 1 })
}

async function runIn(folder: string, faults: Faults, args: string[]): Promise<Outcome> {
  return run(args, { ...settingsOf(folder), ...faults.settings })
}

test(
  'a first start that a fault interrupts at any write, sync or rename is made good by the next one',
  () =>
    tryEach({
      before: () => {},
      run: async (folder, faults) => {
        const purser = new Purser(['serve'], {
          ...settingsOf(folder),
          ...faults.settings,
          PURSER_LOG: 'silent',
        })
        await Promise.race([purser.ended, purser.address().catch(() => {})])
        const code = await purser.stop()
        return { code, stderr: purser.stderr }
      },
      check: servesAgain,
    }),
  faultTimeout,
)

/**
 * Data folders that are created once and copied for each fault: `older` before an upgrade, `seeded` with the demo, a
 * backup of that, and `uploading` with a state version without content.
 */
const bases = mkdtempSync(join(tmpdir(), 'purser-test-'))
const base = (name: string): string => join(bases, name)
const copyOf = (name: string) => (folder: string) => cpSync(base(name), folder, { recursive: true })
let rowsOfSeeded: Record<string, number>
/** Too large to be handled outside of the thread that stores states. */
const state = stateText(
  `{"large": {"type": "string", "value": "${randomBytes(120_000).toString('base64')}"}}`,
)
/** The state version of `uploading` that waits for its content. */
let pending: { id: string; path: string }

beforeAll(async () => {
  await makeOlderDatabase(configOf(base('older')))
  await seed(configOf(base('seeded')))
  rowsOfSeeded = rowsOf(base('seeded'))
  await backUp(configOf(base('seeded')), base('backup'), base('key'))
  mkdirSync(join(base('uploading'), 'data'), { recursive: true })
  await whileServing(base('uploading'), async (client) => {
    const workspaces = `/organizations/${await createOrganization(client)}/workspaces`
    const workspace = await client.post(workspaces, body('workspaces', { name: 'w' }))
    await lock(client, workspace.json.data.id)
    const { data } = (await postState(client, workspace.json.data.id, state)).json
    pending = { id: data.id, path: new URL(data.attributes['hosted-state-upload-url']).pathname }
  })
})
afterAll(() => rmSync(bases, { recursive: true, force: true }))

test(
  'an upgrade of a database with rows that a fault interrupts is made good by the next start',
  () =>
    tryEach({
      before: copyOf('older'),
      run: (folder, faults) => runIn(folder, faults, ['migrate']),
      check: async (folder) => {
        await (await prepare(configOf(folder), surroundings)).database.close()
        expect(rowsOf(folder)).toMatchObject({
          kysely_migration: Object.keys(migrations).length,
          workspaces: olderWorkspaces,
          workspace_notes: olderWorkspaces,
        })
      },
    }),
  faultTimeout,
)

test(
  'a restore that a fault interrupts has restored everything or nothing',
  () =>
    tryEach({
      before: () => {},
      run: (folder, faults) => runIn(folder, faults, ['restore', base('backup'), '--key-file', base('key')]),
      check: async (folder, { code }) => {
        const again = restore(configOf(folder), base('backup'), readKeyFile(base('key')))
        if (code === 0) await expect(again).rejects.toThrow(/not empty/)
        else await again.catch((error: unknown) => expect(String(error)).toMatch(/not empty/))
        const events = (rowsOfSeeded.audit_events as number) + 1
        // A link that was used since must not work again.
        expect(rowsOf(folder)).toEqual({ ...rowsOfSeeded, audit_events: events, password_links: 0 })
        const key = (file: string) => readFileSync(file, 'utf8')
        expect(key(join(folder, 'data', 'secret-key'))).toBe(key(base('key')))
        await (await prepare(configOf(folder), surroundings)).database.close()
      },
    }),
  faultTimeout,
)

test(
  'a backup that a fault interrupts is whole or not there, and can be made once more',
  () =>
    tryEach({
      before: copyOf('seeded'),
      run: (folder, faults) =>
        runIn(folder, faults, ['backup', join(folder, 'file'), '--key-file', join(folder, 'key')]),
      check: async (folder, { code }) => {
        const file = join(folder, 'file')
        if (code === 0) expect(existsSync(file)).toBe(true)
        if (!existsSync(file)) {
          const isLeft = existsSync(`${file}.partial`)
          // Only a killed process leaves this file.
          if (isLeft) {
            expect(code).toBe('SIGKILL')
            await expect(backUp(configOf(folder), file, join(folder, 'key'))).rejects.toThrow(
              /file.partial exists/,
            )
            rmSync(`${file}.partial`)
          }
          await backUp(configOf(folder), file, join(folder, 'key'))
        }
        expect(readdirSync(folder).toSorted()).toEqual(['data', 'file', 'key'])
        const other = join(folder, 'restored')
        await restore(configOf(other), file, readKeyFile(join(folder, 'key')))
        expect(rowsOf(other)).toMatchObject({
          teams: rowsOfSeeded.teams,
          state_chunks: rowsOfSeeded.state_chunks,
        })
      },
    }),
  faultTimeout,
)

test(
  'a state whose upload is killed at any write is there once it is sent again',
  () =>
    tryEach({
      // Permanent faults are tested on a running server, in sqlite-disk.test.ts.
      kinds: ['KILL'],
      before: copyOf('uploading'),
      run: async (folder, faults) => {
        const purser = new Purser(['serve'], {
          ...settingsOf(folder),
          ...faults.settings,
          PURSER_LOG: 'silent',
        })
        const address = await purser.address().catch(() => undefined)
        if (address !== undefined) {
          const client = new Client(address, adminToken(folder))
          await client.request('PUT', address + pending.path, state).catch(() => {})
        }
        return { code: await purser.stop(), stderr: purser.stderr }
      },
      check: (folder, { code }) =>
        whileServing(folder, async (client) => {
          const stored = () => client.get(`/state-versions/${pending.id}/download`)
          if ((await stored()).status !== 200) {
            expect(code).toBe('SIGKILL')
            expect((await client.request('PUT', client.address + pending.path, state)).status).toBe(200)
          }
          expect(differenceOf((await stored()).text, state)).toBeUndefined()
        }),
    }),
  faultTimeout,
)
