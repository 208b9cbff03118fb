import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ExportFiles } from '../src/import/export-files.ts'
import type { Client } from './support/client.ts'
import { oneEngine, type Engine } from './support/engines.ts'
import { createSourceWorld, documentsOf, states } from './support/import-world.ts'
import { Purser, run, settingsFor, settingsOf, temporaryFolder, type Settings } from './support/purser.ts'
import { runs } from './support/runs.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, createState, lock, md5Of, postState, stateText } from './support/states.ts'
import {
  body,
  createTeam,
  createTestOrganization,
  createWorkspace,
  type TestOrganization,
} from './support/world.ts'

const tokenOf = ({ owner }: TestOrganization) => owner.client.token as string

async function runningServer(engine: Engine): Promise<TestServer> {
  const server = await startServer(engine)
  onTestFinished(() => server.stop())
  return server
}

/** A running server as the target. */
async function serving(engine: Engine): Promise<{ settings: Settings; client: Client }> {
  const target = await runningServer(engine)
  return { settings: settingsOf(target), client: target.admin }
}

async function workspaces(client: Client, organization: string) {
  const list = await client.get(`/organizations/${organization}/workspaces?page%5Bsize%5D=100`)
  return list.status === 200
    ? list.json.data.map(
        (one: {
          attributes: { locked: boolean }
          relationships: { 'current-state-version': { data: unknown } }
        }) => ({
          isLocked: one.attributes.locked,
          hasState: one.relationships['current-state-version'].data !== null,
        }),
      )
    : []
}

describe.each(oneEngine)('purser import and export on %s', { timeout: 300_000 }, (engine) => {
  test('killed in the middle and started again, it copies the rest, beside a server', async () => {
    const source = await runningServer(engine)
    const world = await createTestOrganization(source)
    const count = 6
    for (let number = 0; number < count; number += 1) {
      const id = await createWorkspace(world, { name: `w-${number}` })
      await lock(world.owner.client, id)
      for (const serial of [1, 2, 3]) {
        const state = stateText('{}', serial)
        expect((await postState(world.owner.client, id, state, { state: base64(state) })).status).toBe(201)
      }
      await world.owner.client.post(`/workspaces/${id}/actions/unlock`)
    }
    const { settings, client } = await serving(engine)
    const args = ['import', '--from', source.address, '--states', 'all', '--json']
    const given = { ...settings, PURSER_IMPORT_TOKEN: tokenOf(world) }
    for (let kills = 1; kills <= 2; kills += 1) {
      const doomed = new Purser(args, given)
      const hasBegun = async () =>
        (await workspaces(client, world.name)).filter((one: { hasState: boolean }) => one.hasState).length >=
        kills
      while (doomed.child.exitCode === null && !(await hasBegun())) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      doomed.child.kill('SIGKILL')
      await doomed.ended
    }
    const { code, stdout, stderr } = await run(args, given)
    expect({ code, stderr: stderr.includes('purser:') }).toEqual({ code: 0, stderr: false })
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ interrupted: false, 'not-copied': [] })
    expect(report.organizations[0].copied['state versions']).toBeLessThan(3 * count)
    expect(await documentsOf(client, world.name)).toEqual(await documentsOf(source.admin, world.name))
    expect((await workspaces(client, world.name)).some((one: { isLocked: boolean }) => one.isLocked)).toBe(
      false,
    )
    expect(stdout + stderr).not.toContain(tokenOf(world))
  })

  test('started again after it was killed before its last unlock, it gives the lock back', async () => {
    const source = await runningServer(engine)
    const world = await createTestOrganization(source)
    await createState(world, '{}', await createWorkspace(world, { name: 'copied' }))
    const { settings, client } = await serving(engine)
    const args = ['import', '--from', source.address, '--states', 'all', '--json']
    const given = { ...settings, PURSER_IMPORT_TOKEN: tokenOf(world) }
    expect((await run(args, given)).code).toBe(0)
    const path = `/organizations/${world.name}/workspaces/copied`
    const { id } = (await client.get(path)).json.data
    await client.post(`/workspaces/${id}/actions/lock`, { reason: 'purser import' })
    const isLocked = async () => (await client.get(path)).json.data.attributes.locked
    expect(await isLocked()).toBe(true)
    expect((await run([...args, '--dry-run'], given)).code).toBe(0)
    expect(await isLocked()).toBe(true)
    expect((await run(args, given)).code).toBe(0)
    expect(await isLocked()).toBe(false)
  })

  test('killed at any moment, again and again, it ends as one that was not', async () => {
    const source = await runningServer(engine)
    const world = await createSourceWorld(source)
    for (let number = 0; number < 10; number += 1) {
      await createState(world, '{}', await createWorkspace(world, { name: `w-${number}` }))
    }
    const { settings, client } = await serving(engine)
    const args = ['import', '--from', source.address, '--states', 'all', '--json']
    const given = { ...settings, PURSER_IMPORT_TOKEN: tokenOf(world) }
    const begun = async () => (await client.get(`/organizations/${world.name}`)).status === 200
    const found: string[] = []
    for (let kills = 0; kills < runs(3, 100).numRuns; kills += 1) {
      const doomed = new Purser(args, given)
      // The start takes longest, and the interesting moments come after it.
      const hasBegun = (await begun()) ? () => doomed.stderr !== '' : begun
      while (doomed.child.exitCode === null && !(await hasBegun())) await delay(1)
      await delay(Math.random() ** 2 * 2000)
      doomed.child.kill('SIGKILL')
      await doomed.ended
      found.push(doomed.stderr.split('\n').at(-2) ?? '')
    }
    const { code, stdout } = await run(args, given)
    expect({ code, found, report: JSON.parse(stdout)['not-copied'] }).toEqual({ code: 0, found, report: [] })
    expect(await documentsOf(client, world.name)).toEqual(await documentsOf(source.admin, world.name))
  })

  test('Ctrl-C ends what has begun, gives the lock back, and says how to go on', async () => {
    const source = await runningServer(engine)
    const world = await createTestOrganization(source)
    for (let number = 0; number < 30; number += 1) {
      await createState(world, '{}', await createWorkspace(world, { name: `w-${number}` }))
    }
    const { settings, client } = await serving(engine)
    const tokenFile = join(temporaryFolder(), 'token')
    writeFileSync(tokenFile, `${tokenOf(world)}\n`)
    const args = ['import', '--from', source.address, '--token-file', tokenFile]
    const purser = new Purser(args, settings)
    const hasBegun = async () =>
      (await workspaces(client, world.name)).some((one: { hasState: boolean }) => one.hasState)
    while (!(await hasBegun())) await new Promise((resolve) => setTimeout(resolve, 5))
    purser.child.kill('SIGINT')
    expect(await purser.ended).toBe(130)
    expect(purser.stderr).toContain('Run the same import again to copy the rest')
    expect((await workspaces(client, world.name)).some((one: { isLocked: boolean }) => one.isLocked)).toBe(
      false,
    )
    const resumed = await run(args, settings)
    expect(resumed).toMatchObject({ code: 0 })
    expect(resumed.stdout).toMatch(/state versions: \d+ copied, \d+ there already/)
    expect((await workspaces(client, world.name)).every((one: { hasState: boolean }) => one.hasState)).toBe(
      true,
    )
  })

  test('an export holds everything, closed to others; imported, it gives the same documents and states', async () => {
    const source = await runningServer(engine)
    const world = await createSourceWorld(source)
    const folder = join(temporaryFolder(), 'export')
    const own = settingsOf(source)
    const exported = await run(['export', '--organization', world.name, '--states', 'all', folder], own)
    expect(exported.code).toBe(0)
    expect(exported.stderr).toMatch(/in clear, with every secret in them/)
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    for (const name of files) {
      const { mode } = statSync(join(folder, name))
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, name === 'states' ? '700' : '600'])
    }
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
    const stored = readdirSync(join(folder, 'states')).filter((name) => name.endsWith('.tfstate'))
    const bytes = stored.map((name) => md5Of(readFileSync(join(folder, 'states', name))))
    expect(bytes.sort()).toEqual(states.map((state) => md5Of(state)).sort())
    // An export reads states, so the audit trail must record it.
    const audit = await run(['audit', '--json', '--action', 'state-version.download'], own)
    expect(audit.stdout.trim().split('\n')).toHaveLength(states.length + 1)

    const { settings, client } = await serving(engine)
    const imported = await run(['import', '--from', folder, '--states', 'all', '--json'], settings)
    expect(imported).toMatchObject({ code: 0 })
    const there = await documentsOf(source.admin, world.name)
    expect(await documentsOf(client, world.name)).toEqual(there)
    const again = JSON.parse(
      (await run(['import', '--from', folder, '--states', 'all', '--json'], settings)).stdout,
    )
    expect(again.organizations[0].copied).toEqual({})

    const file = join(folder, 'states', stored[0] as string)
    writeFileSync(file, readFileSync(file, 'utf8').replace('1.10.10', '1.10.11'))
    const altered = ['import', '--from', folder, '--to-organization', 'altered', '--states', 'all', '--json']
    const spoilt = await run(altered, settings)
    expect(spoilt.code).toBe(1)
    expect(JSON.parse(spoilt.stdout)['not-copied'][0].reason).toContain('was changed after the export')
    writeFileSync(join(folder, 'teams.jsonl'), '')
    expect((await run(['import', '--from', folder], settings)).stderr).toContain(
      'teams.jsonl was changed after the export',
    )
  })

  test('an export from another server is the same, and one into a folder that is used is refused', async () => {
    const source = await runningServer(engine)
    const world = await createTestOrganization(source)
    await createState(world, '{}')
    const folder = join(temporaryFolder(), 'export')
    const given = { PURSER_IMPORT_TOKEN: tokenOf(world) }
    // Named twice, it is written once.
    const named = ['--organization', world.name, '--organization', world.name]
    const args = ['export', '--from', source.address, ...named, folder]
    // The folder as a killed export leaves it.
    mkdirSync(join(folder, 'states'), { recursive: true })
    for (const name of ['unfinished', 'teams.jsonl', 'states/arriving']) {
      writeFileSync(join(folder, name), 'half a li')
    }
    const exported = await run([...args, '--json'], given)
    expect(exported.code).toBe(0)
    expect(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))).toMatchObject({
      format: 'purser-export',
      'format-version': 1,
      from: source.address,
    })
    expect(readFileSync(join(folder, 'state-versions.jsonl'), 'utf8')).not.toContain(source.address)
    expect(readFileSync(join(folder, 'organizations.jsonl'), 'utf8').match(/\n/g)).toHaveLength(1)
    expect(readdirSync(folder)).not.toContain('unfinished')
    expect(readdirSync(join(folder, 'states'))).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.tfstate$/)])
    const again = await run(args, given)
    expect(again.code).toBe(1)
    expect(again.stderr).toContain('is not empty')
  })
})

describe('purser export', () => {
  test('writes into no folder that leads elsewhere or that others may write into', async () => {
    const source = await runningServer('sqlite')
    const world = await createTestOrganization(source)
    await createState(world, '{}')
    const given = { PURSER_IMPORT_TOKEN: tokenOf(world) }
    const parent = temporaryFolder()
    const real = join(parent, 'real')
    mkdirSync(real, { mode: 0o700 })
    symlinkSync(real, join(parent, 'link'))
    const open = join(parent, 'open')
    mkdirSync(open)
    chmodSync(open, 0o770)
    writeFileSync(join(parent, 'file'), '')
    for (const [folder, problem] of [
      ['link', 'is a link'],
      ['link/', 'is a link'],
      ['open', 'name a new folder'],
      ['file', 'is no folder'],
    ] as const) {
      const { code, stderr } = await run(['export', '--from', source.address, `${parent}/${folder}`], given)
      expect({ folder, code }).toEqual({ folder, code: 1 })
      expect(stderr).toContain(problem)
      expect(stderr).not.toContain('in clear')
    }
    const readable = join(parent, 'readable')
    mkdirSync(readable)
    chmodSync(readable, 0o755)
    const args = ['export', '--from', source.address, readable]
    const { code, stderr } = await run(args, given)
    expect([code, statSync(readable).mode & 0o777]).toEqual([0, 0o700])
    expect(stderr).toContain('in clear')
    expect([readdirSync(real), readdirSync(open)]).toEqual([[], []])
  })

  test('that cannot write its files says so in a line, with what was copied', async () => {
    const source = await runningServer('sqlite')
    const world = await createTestOrganization(source)
    await createState(world, `{"a": {"value": "${'x'.repeat(100_000)}"}}`)
    const folder = join(temporaryFolder(), 'export')
    // Limits each file to 64 KiB.
    const limited = ['bash', '-c', 'trap "" XFSZ; ulimit -f 64; exec "$0" "$@"']
    const given = { PURSER_IMPORT_TOKEN: tokenOf(world), NODE_COMPILE_CACHE: '' }
    const command = new Purser(['export', '--from', source.address, folder], given, { wrapper: limited })
    expect(await command.ended).toBe(1)
    expect(command.stderr).toContain('cannot write: EFBIG')
    expect(command.stderr).not.toMatch(/^ +at /m)
    expect(command.stdout + command.stderr).toContain('workspaces: 1 copied')
    expect(readdirSync(folder)).toContain('unfinished')
  })

  test('follows no link that lies in its folder', async () => {
    const source = await runningServer('sqlite')
    const world = await createTestOrganization(source)
    await createState(world, '{}')
    const given = { PURSER_IMPORT_TOKEN: tokenOf(world) }
    const parent = temporaryFolder()
    const [folder, target] = [join(parent, 'export'), join(parent, 'target')]
    writeFileSync(target, 'not to be overwritten')
    mkdirSync(join(folder, 'states'), { recursive: true, mode: 0o700 })
    for (const name of ['unfinished', 'teams.jsonl', 'states/arriving'])
      symlinkSync(target, join(folder, name))
    const exported = await run(['export', '--from', source.address, folder], given)
    expect(exported.stderr).not.toContain('cannot')
    expect(exported.code).toBe(0)
    expect(readFileSync(target, 'utf8')).toBe('not to be overwritten')

    renameSync(join(folder, 'teams.jsonl'), target)
    symlinkSync(target, join(folder, 'teams.jsonl'))
    const imported = await run(['import', '--from', folder], (await serving('sqlite')).settings)
    expect(imported.stderr).toMatch(/teams.jsonl cannot be read.*ELOOP/)
  })

  test('leaves a folder that is not empty as it was', () => {
    const folder = temporaryFolder()
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'index.html'), '')
    expect(() => new ExportFiles(folder)).toThrow(`${folder} is not empty`)
    expect(statSync(folder).mode & 0o777).toBe(0o755)
    expect(readdirSync(folder)).toEqual(['index.html'])
  })

  test('is not complete if another one began in its folder', () => {
    const folder = join(temporaryFolder(), 'export')
    using first = new ExportFiles(folder)
    using second = new ExportFiles(folder)
    expect(() => first.finish('x')).toThrow(`another export began in ${folder} meanwhile`)
    expect(readdirSync(folder)).toContain('unfinished')
    second.finish('x')
    expect(readdirSync(folder)).toContain('manifest.json')
  })

  test('waits for no pipe that lies in its folder', async () => {
    const source = await runningServer('sqlite')
    const world = await createTestOrganization(source)
    await createState(world, '{}')
    const folder = join(temporaryFolder(), 'export')
    await run(['export', '--from', source.address, folder], { PURSER_IMPORT_TOKEN: tokenOf(world) })
    const { settings } = await serving('sqlite')
    const args = ['import', '--from', folder]
    const [state = ''] = readdirSync(join(folder, 'states'))
    const replaced = async (name: string) => {
      rmSync(join(folder, name))
      execFileSync('mkfifo', [join(folder, name)])
      return run(args, settings)
    }
    const inStates = await replaced(join('states', state))
    expect(inStates).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('was changed after the export'),
    })
    expect((await replaced('teams.jsonl')).stderr).toContain('teams.jsonl was changed after the export')
    expect((await replaced('manifest.json')).stderr).toContain('does not belong to an export')
  })

  test('names an organization that is not there, and no token', async () => {
    const { settings } = await serving('sqlite')
    const { code, stderr } = await run(
      ['export', '--organization', 'nope', join(temporaryFolder(), 'x')],
      settings,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/there is no organization nope/)
    expect(stderr).not.toMatch(/token/)
  })

  test('is known again by its content, not by what it says of itself', async () => {
    const [first, second] = [await runningServer('sqlite'), await runningServer('sqlite')]
    const parent = temporaryFolder()
    const folders: string[] = []
    for (const source of [first, second]) {
      const world = await createTestOrganization(source)
      await source.admin.patch(`/organizations/${world.name}`, body('organizations', { name: 'acme' }))
      const folder = join(parent, `of-${folders.length}`)
      const made = await run(['export', '--from', source.address, folder], {
        PURSER_IMPORT_TOKEN: tokenOf(world),
      })
      expect(made.code).toBe(0)
      const manifest = join(folder, 'manifest.json')
      const text = readFileSync(manifest, 'utf8').replace(source.address, 'https://tfe.example.com')
      writeFileSync(manifest, text)
      folders.push(folder)
    }
    const { settings } = await serving('sqlite')
    const importFrom = (folder = '', ...more: string[]) =>
      run(['import', '--from', folder, ...more], settings)
    expect((await importFrom(folders[0])).code).toBe(0)
    expect((await importFrom(folders[0])).code).toBe(0)
    const other = await importFrom(folders[1])
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('was not imported from this source')
    expect((await importFrom(folders[1], '--merge')).code).toBe(0)
  })
})

describe('purser import', () => {
  test('says what is missing or wrong in one line', async () => {
    const settings = await settingsFor('sqlite')
    await run(['migrate'], settings)
    const refused = async (args: string[], more: Settings = {}) => {
      const { code, stdout, stderr } = await run(['import', ...args], { ...settings, ...more })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      return stderr
    }
    expect(await refused([])).toContain('--from')
    expect(await refused(['--from', 'https://x.example.com'])).toContain(
      'PURSER_IMPORT_TOKEN or --token-file',
    )
    const token = { PURSER_IMPORT_TOKEN: 'secret-token-of-the-tests' }
    const plain = await refused(['--from', 'http://x.example.com'], token)
    expect(plain).toContain('--insecure-http')
    expect(plain).not.toContain('secret-token')
    expect(await refused(['--from', 'x.example.com'], token)).toContain('begins with https://')
    expect(await refused(['--from', temporaryFolder()])).toContain('it has no manifest.json')
    const other = temporaryFolder()
    for (const text of ['null', '{"format": "purser-export", "from": "x", "files": null}']) {
      writeFileSync(join(other, 'manifest.json'), text)
      expect(await refused(['--from', other])).toContain('does not belong to an export')
    }
    expect(await refused(['--from', 'http://127.0.0.1:1', '--as', 'nobody'], token)).toContain('--as')
  })

  test('help says how the token stays out of the list of processes', async () => {
    const { stdout } = await run(['import', '--help'])
    expect(stdout).toContain('PURSER_IMPORT_TOKEN')
    expect(stdout).toMatch(/list of\s+processes/)
    expect((await run(['export', '--help'])).stdout).toContain('in clear')
  })
})

test('a source whose certificate a private authority signed is trusted if it is named', async () => {
  const file = (name: string) => join(import.meta.dirname, 'data/tls', name)
  const source = await startServer('sqlite', { tlsCert: file('cert.pem'), tlsKey: file('key.pem') })
  onTestFinished(() => source.stop())
  const settings = { ...(await settingsFor('sqlite')), PURSER_IMPORT_TOKEN: source.admin.token as string }
  await run(['migrate'], settings)
  await run(['user', 'create', 'root', '--email', 'root@example.com', '--admin'], settings)
  const address = source.address.replace('http:', 'https:')
  const copy = (more: Settings) => run(['import', '--from', address], { ...settings, ...more })
  expect((await copy({})).stderr).toMatch(/self-signed certificate/)
  const trusting = await copy({ NODE_EXTRA_CA_CERTS: file('cert.pem') })
  expect(trusting.stderr).toMatch(/the token sees no organization/)
})

test('a source that goes away is said, with what was copied until then', { timeout: 300_000 }, async () => {
  const source = await startServer('sqlite')
  const world = await createTestOrganization(source)
  await createTeam(world, { name: 'one' })
  for (let number = 0; number < 60; number += 1) await createWorkspace(world, { name: `w-${number}` })
  const folder = join(temporaryFolder(), 'export')
  const args = ['export', '--from', source.address, folder]
  const given = { PURSER_IMPORT_TOKEN: tokenOf(world) }
  const purser = new Purser(args, given)
  while (!purser.stderr.includes('reading teams')) await delay(1)
  await source.stop()
  expect(await purser.ended).toBe(1)
  expect(purser.stdout).toContain('teams: 2 copied')
  expect(purser.stderr).toMatch(/cannot be reached: .*Run the same command again: it begins anew/)
  expect(existsSync(join(folder, 'manifest.json'))).toBe(false)
  const refused = await run(['import', '--from', folder], await settingsFor('sqlite'))
  expect(refused.stderr).toContain('An export that was interrupted has none either')
})
