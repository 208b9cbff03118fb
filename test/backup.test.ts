import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { demo } from '../src/cli/demo.ts'
import { readConfig } from '../src/config.ts'
import { existing } from '../src/core/existing.ts'
import { openDatabase, sqliteFile } from '../src/database/open.ts'
import { makeDataFolder } from '../src/operation/data-folder.ts'
import { hasNoRows } from '../src/operation/backup-store.ts'
import { readHeader, restoreBackup } from '../src/operation/restore.ts'
import { Client } from './support/client.ts'
import { analyzedTables, engines } from './support/engines.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, temporaryFolder, type Settings } from './support/purser.ts'
import { output, seeded, seenBy } from './support/seeded.ts'
import { expectEnded, newSignIn } from './support/sign-ins.ts'

const PASSWORD = demo.workspaces[1].history[2].password.value

describe.each(engines)('a backup of %s', (engine) => {
  test.each(engines)('that is taken while the server runs gives the same answers from %s', async (target) => {
    const settings = await settingsFor(engine)
    const tokens = await seeded(settings)
    const purser = new Purser(['serve'], settings)
    const before = await seenBy(await purser.address(), tokens)
    expect(before.real).toMatchObject({ status: 200, text: expect.stringContaining(PASSWORD) })
    expect(before.current).toMatchObject({ status: 200, text: expect.not.stringContaining(PASSWORD) })
    expect(before.hidden.status).toBe(404)
    expect(before.projects.text).toMatch(/"workspace-count":[1-9]/)

    const folder = temporaryFolder()
    const [file, keyFile] = [join(folder, 'backup'), join(folder, 'key')]
    const written = JSON.parse(await output(['backup', file, '--key-file', keyFile, '--json'], settings))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).toSorted()).toEqual(['backup', 'key'])

    const { PURSER_SECRET_KEY: _, ...others }: Settings = await settingsFor(target)
    const restore = ['restore', file, '--key-file', keyFile]
    expect(await output(restore, others)).toMatch(`everything as it was at ${written.at}`)
    if (target === 'postgres') {
      others.PURSER_SECRET_KEY = readFileSync(keyFile, 'utf8').trim()
      expect(await analyzedTables(others.PURSER_DATABASE_URL as string)).toContain('users')
    }
    const restored = new Purser(['serve'], others)
    const address = await restored.address()
    expect(restored.stdout).not.toContain('token')
    expect(await seenBy(address, tokens)).toEqual(before)
    // Counters continue: a search finds a new team, and the audit trail continues after the old events.
    const team = { data: { type: 'teams', attributes: { name: 'newcomers' } } }
    expect((await new Client(address, tokens.anna).post('/organizations/demo/teams', team)).status).toBe(200)
    const search = await new Client(address, tokens.anna).get('/organizations/demo/teams?q=newc')
    expect(search.json.data).toHaveLength(1)
    const trail = (await output(['audit', '--json'], others)).split('\n').map((line) => JSON.parse(line))
    const actions = trail.map(({ action }) => action)
    expect(actions.filter((action) => action.startsWith('database.'))).toEqual(['database.restore'])
    expect(actions.at(-1)).toBe('team.create')
    const verdict = JSON.parse(await output(['audit', 'verify', '--json'], others))
    expect(verdict).toMatchObject({ intact: true, events: trail.length })

    const again = await run(restore, others)
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toMatch(
      target === 'sqlite' ? /another Purser runs/ : /^purser: the database is not empty/,
    )
  })

  test('shows no value and no token in clear, and neither does the data folder', async () => {
    const settings = await settingsFor(engine)
    const tokens = await seeded(settings)
    const purser = new Purser(['serve'], settings)
    const { real } = await seenBy(await purser.address(), tokens)
    expect(real.text).toContain(PASSWORD)
    const file = join(temporaryFolder(), 'backup')
    await output(['backup', file], settings)
    const folder = settings.PURSER_DATA as string
    const bytes = [
      zstdDecompressSync(readFileSync(file)),
      ...readdirSync(folder).map((name) => readFileSync(join(folder, name))),
    ]
    expect(bytes[0]?.includes('"audit_events"')).toBe(true)
    for (const secret of [PASSWORD, Buffer.from(PASSWORD).toString('base64'), ...Object.values(tokens)]) {
      expect(bytes.filter((content) => content.includes(secret))).toEqual([])
    }
  })

  test('brings back no session, no password link and no login code', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const address = await new Purser(['serve'], settings).address()
    const jane = await newSignIn(address)
    expect((await jane.browser.get('/account/details')).status).toBe(200)
    const folder = temporaryFolder()
    const [file, keyFile] = [join(folder, 'backup'), join(folder, 'key')]
    await output(['backup', file, '--key-file', keyFile], settings)
    const text = zstdDecompressSync(readFileSync(file)).toString()
    const tables = [...text.matchAll(/^\{"table":"(\w+)"/gm)].map(([, table]) => table)
    expect(tables).toContain('users')
    for (const table of ['sessions', 'password_links', 'login_codes']) expect(tables).not.toContain(table)

    const others = { ...(await settingsFor(engine)), PURSER_SECRET_KEY: readFileSync(keyFile, 'utf8').trim() }
    await output(['restore', file], others)
    expect((await run(['doctor'], others)).stdout).not.toMatch(/lacks/)
    await expectEnded(jane, await new Purser(['serve'], others).address())
  })

  test('is refused when it is cut short, or of a newer Purser, or without its key; nothing is left behind', async () => {
    const settings = await settingsFor(engine)
    await seeded(settings)
    const folder = temporaryFolder()
    const file = join(folder, 'backup')
    await output(['backup', file, '--key-file', join(folder, 'key')], settings)
    const refused = async (name: string, content: Buffer | string, line: RegExp) => {
      writeFileSync(join(folder, name), content)
      const others: Settings = {
        PURSER_DATA: join(folder, 'data'),
        PURSER_SECRET_KEY: readFileSync(join(folder, 'key'), 'utf8').trim(),
      }
      const { code, stderr, stdout } = await run(['restore', join(folder, name)], others)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(line)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
    const whole = readFileSync(file)
    const text = zstdDecompressSync(whole).toString()
    await refused('short', whole.subarray(0, whole.length - 20), /it ends too early|is damaged/)
    await refused(
      'damaged',
      Buffer.from(whole).fill(0x55, whole.length >> 1, (whole.length >> 1) + 8),
      /cannot read|not a backup|damaged|too early/,
    )
    const lines = text.trimEnd().split('\n')
    await refused('endless', zstdCompressSync(`${lines.slice(0, -1).join('\n')}\n`), /its end is missing/)
    await refused('less', zstdCompressSync(`${lines.toSpliced(-3, 1).join('\n')}\n`), /rows are missing/)
    await refused(
      'newer',
      zstdCompressSync(text.replace('"purser-backup":1', '"purser-backup":2')),
      /newer Purser/,
    )
    await refused(
      'later',
      zstdCompressSync(text.replace('"0001-first-tables"', '"0001-first-tables","9999-future"')),
      /newer Purser/,
    )
    const oddVersion = '{"purser-backup":2,"version":{"toString":1}}\n'
    await refused('odd', zstdCompressSync(oddVersion), /a newer Purser: restore it with that/)
    await refused(
      'headless',
      zstdCompressSync('{"purser-backup":1}\n'),
      /not a backup.*: its header is wrong/,
    )
    await refused(
      'unmigrated',
      zstdCompressSync(text.replace(/"migrations":\[[^\]]*\]/, '"migrations":[]')),
      /not a backup.*: its header is wrong/,
    )
    await refused('other', 'something else', /is not a backup of Purser/)
    const keyless = await run(['restore', file], { PURSER_DATA: join(folder, 'data') })
    expect(keyless.stderr).toMatch(/^purser: the backup needs the secret key of fingerprint /)
    const wrong = { PURSER_DATA: join(folder, 'data'), PURSER_SECRET_KEY: 'b'.repeat(64) }
    expect((await run(['restore', file], wrong)).stderr).toMatch(
      /^purser: the secret key is not the one of this/,
    )
    // The folder can still receive the right backup.
    expect(
      await output(['restore', file, '--key-file', join(folder, 'key')], {
        PURSER_DATA: join(folder, 'data'),
      }),
    ).toMatch(/^restored: /)
  })

  test('goes to standard output, alone, and can be restored', async () => {
    const settings = await settingsFor(engine)
    await seeded(settings)
    const folder = temporaryFolder()
    const [file, key] = [join(folder, 'backup'), join(folder, 'key')]
    const piped = (command: string) =>
      spawnSync('bash', ['-o', 'pipefail', '-c', `"$0" src/main.ts backup - ${command}`, process.execPath], {
        env: { ...process.env, ...settings },
        encoding: 'utf8',
      })
    const { status, stderr } = piped(`--key-file ${key} > ${file}`)
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(
        /^written: the backup, everything as it was at .*\nthe secret key is in .*: keep it apart from the backup\n$/,
      ),
    })
    expect(existsSync('-')).toBe(false)
    const { PURSER_SECRET_KEY: _, ...others }: Settings = await settingsFor('sqlite')
    expect(await output(['restore', file, '--key-file', key], others)).toMatch(/^restored: /)

    const cut = piped('| true')
    expect(cut).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/cannot write the backup: .*EPIPE/),
    })
    const mixed = await run(['backup', '-', '--json'], settings)
    expect(mixed).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'purser: --json needs a file: the backup is on standard output\n',
    })
  })

  test('is not restored from a pipe, which gives its bytes away only once', async () => {
    const settings = await settingsFor('sqlite')
    const folder = temporaryFolder()
    const [file, key] = [join(folder, 'backup'), join(folder, 'key')]
    await seeded(settings)
    await output(['backup', file, '--key-file', key], settings)
    const data = join(folder, 'data')
    const command = `cat ${file} | "$0" src/main.ts restore /dev/stdin --key-file ${key} --data ${data}`
    const { status, stderr } = spawnSync('bash', ['-c', command, process.execPath], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'purser: /dev/stdin is a pipe: write the backup into a file, and restore that\n',
    })
  })

  test('is never written to the file of its key', async () => {
    const settings = await settingsFor('sqlite')
    await seeded(settings)
    const file = join(temporaryFolder(), 'backup')
    const { code, stderr } = await run(['backup', file, '--key-file', file], settings)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'purser: the backup and the secret key must be kept apart: name two files\n',
    })
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, 'of last week')
    const taken = await run(['backup', file, '--key-file', `${file}.key`], settings)
    expect(taken.stderr).toBe(`purser: ${file} exists: a backup never overwrites anything\n`)
    expect(existsSync(`${file}.key`)).toBe(false)
  })

  test.each(engines)(
    'of %s beside one that was interrupted says which file is in the way',
    async (source) => {
      const settings = await settingsFor(source)
      await seeded(settings)
      const file = join(temporaryFolder(), 'backup')
      writeFileSync(`${file}.partial`, '')
      const { code, stderr } = await run(['backup', file], settings)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^purser: \S+backup\.partial exists: delete it, [^\n]+\n$/)
    },
  )

  test('that is interrupted leaves nothing behind', async () => {
    const settings = await settingsFor('sqlite')
    await seeded(settings)
    // So much that it takes a while.
    const database = new DatabaseSync(sqliteFile(settings.PURSER_DATA as string))
    const { state_version_id: version } = existing(
      database.prepare('select state_version_id from state_chunks').get(),
    )
    const insert = database.prepare('insert into state_chunks values (?, ?, ?, ?, ?)')
    database.exec('begin')
    for (let number = 0; number < 150; number += 1) {
      insert.run(existing(version), 'other', 'state', number, randomBytes(1024 * 1024))
    }
    database.exec('commit')
    database.close()
    const folder = temporaryFolder()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const backup = new Purser(['backup', join(folder, 'backup')], settings)
      while (backup.child.exitCode === null && readdirSync(folder).length === 0) await delay(5)
      backup.child.kill(signal)
      expect(await backup.ended).toBe(130)
      expect(backup.stderr).toBe('interrupted; there is no backup\n')
      expect(readdirSync(folder)).toEqual([])
    }
  })

  test('is not restored into a folder that has a key already; the line names that folder', async () => {
    const settings = await settingsFor('sqlite')
    await seeded(settings)
    const folder = temporaryFolder()
    const [file, key] = [join(folder, 'backup'), join(folder, 'key')]
    await output(['backup', file, '--key-file', key], settings)
    const used = await settingsFor('sqlite')
    await output(['migrate'], used)
    const { code, stderr } = await run(['restore', file, '--key-file', key], used)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^purser: \S+\/secret-key holds another secret key, of fingerprint \w+: restore into a new data folder/,
    )
  })

  test('that another one replaces while it is read is not restored', async () => {
    const source = await settingsFor('sqlite')
    await seeded(source)
    const [file, key] = ['backup', 'key'].map((name) => join(temporaryFolder(), name)) as [string, string]
    await output(['backup', file, '--key-file', key], source)
    const header = { ...(await readHeader(file)), at: '2026-01-01T00:00:00.000Z' }
    const config = readConfig({}, await settingsFor(engine))
    makeDataFolder(config.data)
    const open = await openDatabase(config)
    const restored = restoreBackup(open, file, header, () => Promise.resolve())
    await expect(restored).rejects.toThrow('the file was replaced by another backup')
    expect(await open.withConnection(hasNoRows)).toBe(true)
    await open.database.close()
  })

  test('of which a row is missing leaves not even a table behind', async () => {
    const source = await settingsFor('sqlite')
    await seeded(source)
    const folder = temporaryFolder()
    const [whole, short, key] = ['whole', 'short', 'key'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    await output(['backup', whole, '--key-file', key], source)
    const lines = zstdDecompressSync(readFileSync(whole)).toString().trimEnd().split('\n')
    writeFileSync(short, zstdCompressSync(`${lines.toSpliced(-3, 1).join('\n')}\n`))
    const settings = { ...(await settingsFor(engine)), PURSER_SECRET_KEY: readFileSync(key, 'utf8').trim() }
    expect(await run(['restore', short], settings)).toMatchObject({ code: 1, stdout: '' })
    const { database, withConnection } = await openDatabase(readConfig({}, settings))
    const tables = await withConnection((db) =>
      db.introspection.getTables({ withInternalKyselyTables: true }),
    )
    await database.close()
    expect(tables).toEqual([])
  })
})

test('seed does nothing the second time', async () => {
  const settings = await settingsFor('sqlite')
  await seeded(settings)
  expect(await output(['seed'], settings)).toMatch(/^nothing to do.* --data /)
})
