import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client as PostgresClient } from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { appliedMigrations } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open.ts'
import { moveDatabase, type MoveOptions } from '../src/operation/move.ts'
import { Client } from './support/client.ts'
import { analyzedTables, onlyPostgres } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, type Settings } from './support/purser.ts'
import { output, seeded, seenBy } from './support/seeded.ts'
import { expectEnded, newSignIn } from './support/sign-ins.ts'

/** The secret key of a data folder, which a server on PostgreSQL is given as a setting. */
function keyOf(source: Settings): string {
  return readFileSync(join(source.PURSER_DATA as string, 'secret-key'), 'utf8').trim()
}

async function refused(args: readonly string[], settings: Settings, message: RegExp) {
  const { code, stdout, stderr } = await run(['move', ...args], settings)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr.trim().split('\n')).toHaveLength(1)
}

/** Locks the table as soon as it is there, so that whoever fills it waits. */
async function holdTable(url: string, table: string) {
  const client = new PostgresClient({ connectionString: url })
  // Its connection may be ended with the database.
  client.on('error', () => {})
  await client.connect()
  await vi.waitUntil(
    async () => {
      await client.query('begin')
      const lock = client.query(`lock table ${table}`)
      if (await lock.then(() => true).catch(() => false)) return true
      await client.query('rollback')
      return false
    },
    { timeout: 60_000, interval: 1 },
  )
  return { release: () => client.end() }
}

describe('purser move', () => {
  test('asks for a target, and for a data folder', async () => {
    const settings = await settingsFor('sqlite')
    await refused([], settings, /name the PostgreSQL database with --to or PURSER_DATABASE_URL/)
    await refused(['--to', 'mysql://db'], settings, /--to must begin with postgres:\/\//)
    await refused(
      ['--to', 'postgres://me:/x@127.0.0.1/x'],
      settings,
      /--to has an @ or a # behind the host; /,
    )
    await refused(['--to', 'postgres://127.0.0.1/x'], settings, /there is no database in /)
  })
})

describe.each(onlyPostgres)('purser move to %s', (engine) => {
  /** A seeded data folder, and the settings of a server on an empty target. */
  async function both() {
    const source: Settings = { ...(await settingsFor('sqlite')), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const tokens = await seeded(source)
    const target: Settings = { ...(await settingsFor(engine)), PURSER_SECRET_KEY: keyOf(source) }
    return { source, target, tokens, to: target.PURSER_DATABASE_URL as string }
  }

  test('copies everything: a server on the target gives the same answers and goes on', async () => {
    const { source, target, tokens, to } = await both()
    const old = new Purser(['serve'], source)
    const before = await seenBy(await old.address(), tokens)
    const signIn = await newSignIn(await old.address())
    await refused(['--to', to], source, /another Purser runs on the data folder/)
    await old.stop()
    const folder = source.PURSER_DATA as string
    const hashes = () =>
      readdirSync(folder)
        .filter((name) => name === 'purser.sqlite' || name === 'secret-key')
        .map((name) =>
          createHash('md5')
            .update(readFileSync(join(folder, name)))
            .digest('hex'),
        )
    const files = hashes()

    const { tables } = JSON.parse(await output(['move', '--to', to, '--json'], source))
    expect(tables).toContainEqual(expect.objectContaining({ table: 'users', rows: expect.any(Number) }))
    for (const table of ['sessions', 'password_links', 'login_codes']) {
      expect(tables).not.toContainEqual(expect.objectContaining({ table }))
    }
    expect(tables.every(({ sha256 }: { sha256: string }) => /^[0-9a-f]{64}$/.test(sha256))).toBe(true)
    expect(hashes()).toEqual(files)
    expect(await analyzedTables(to)).toContain('users')
    expect((await run(['doctor'], target)).stdout).not.toMatch(/lacks/)

    const moved = new Purser(['serve'], target)
    const address = await moved.address()
    expect(moved.stdout).not.toContain('token')
    expect(await seenBy(address, tokens)).toEqual(before)
    await expectEnded(signIn, address)
    const team = { data: { type: 'teams', attributes: { name: 'newcomers' } } }
    expect((await new Client(address, tokens.anna).post('/organizations/demo/teams', team)).status).toBe(200)
    const search = await new Client(address, tokens.anna).get('/organizations/demo/teams?q=newc')
    expect(search.json.data).toHaveLength(1)
    const trail = (await output(['audit', '--json'], target)).split('\n').map((line) => JSON.parse(line))
    expect(trail.filter(({ action }) => action === 'database.move')).toHaveLength(1)
    const verdict = JSON.parse(await output(['audit', 'verify', '--json'], target))
    expect(verdict).toMatchObject({ intact: true, events: trail.length })
    await refused(
      ['--to', to],
      source,
      /the move of .*purser\.sqlite into this database is complete: it ended at 20.*Z\. Start the server on it; /,
    )
    const other: Settings = { ...(await settingsFor('sqlite')), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    await output(['migrate'], other)
    await refused(['--to', to], other, /the target is not empty: move into a new database/)
    // Whoever has to go back finds in the folder what was there.
    const back = new Purser(['serve'], source)
    expect(await seenBy(await back.address(), tokens)).toEqual(before)
  })

  test('refuses a wrong secret key before it writes anything', async () => {
    const { source, target, to } = await both()
    const wrong = { ...source, PURSER_SECRET_KEY: 'f'.repeat(64) }
    await refused(['--to', to], wrong, /the secret key is not the one of this database/)
    const { database, withConnection } = await openDatabase({
      data: '',
      databaseUrl: target.PURSER_DATABASE_URL,
    })
    expect(await withConnection(appliedMigrations)).toEqual([])
    await database.close()
  })

  /** Moves in this process until `stopAt` is reached: a stage such as `copied teams`. */
  async function moveUntil(stopAt: string, source: Settings, target: Settings): Promise<void> {
    const from = await openDatabase({ data: source.PURSER_DATA as string, databaseUrl: undefined })
    const to = await openDatabase({ data: '', databaseUrl: target.PURSER_DATABASE_URL })
    const controller = new AbortController()
    const options: MoveOptions = {
      source: join(source.PURSER_DATA as string, 'purser.sqlite'),
      signal: controller.signal,
      onContinue: () => {},
      onProgress: (stage) => {
        if (stage === stopAt) controller.abort()
      },
      finish: async () => {},
    }
    await expect(moveDatabase(from, to, options)).rejects.toThrow('aborted')
    await from.database.close()
    await to.database.close()
  }

  test.each(['copied users', 'copied audit_events', 'compared teams'])(
    'continues a move that was interrupted once it had %s',
    async (stage) => {
      const { source, target, to } = await both()
      await moveUntil(stage, source, target)
      const { code, stderr } = await run(['move', '--to', to], source)
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/continues an interrupted move after \d+ rows of /),
      ])
      expect(JSON.parse(await output(['audit', 'verify', '--json'], target)).intact).toBe(true)
    },
  )

  test('admits no server, no command and no other move until it has ended', async () => {
    const { source, target, to } = await both()
    await moveUntil('copied users', source, target)
    for (const command of [['serve'], ['migrate'], ['user', 'list'], ['doctor']]) {
      const { code, stderr, stdout } = await run(command, target)
      expect([command, code, `${stdout}${stderr}`]).toEqual([
        command,
        1,
        expect.stringContaining('an unfinished purser move'),
      ])
    }
    const other = await settingsFor('sqlite')
    await seeded(other)
    await refused(['--to', to], other, /the target has an unfinished move from .*purser\.sqlite/)
  })

  test('names the tables that differ, if the source was changed while a move was interrupted', async () => {
    const { source, target, to } = await both()
    await moveUntil('copied teams', source, target)
    await output(['user', 'create', 'late', '--email', 'late@example.com'], source)
    const { code, stderr } = await run(['move', '--to', to], source)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /both sides differ in users \(\d+ rows here, \d+ there\).*move into a new database/,
    )
    expect((await run(['serve'], target)).stderr).toContain('an unfinished purser move')
  })

  test('goes on after it was killed', async () => {
    const { source, target, to } = await both()
    const first = new Purser(['move', '--to', to], source)
    const held = await holdTable(to, 'audit_events')
    await first.says(/copied organizations/)
    first.child.kill('SIGKILL')
    await first.ended
    await held.release()
    const { code, stderr } = await run(['move', '--to', to], source)
    expect(stderr).toMatch(/continu/)
    expect(code).toBe(0)
    const { code: verified } = await run(['audit', 'verify'], target)
    expect(verified).toBe(0)
  })
})
