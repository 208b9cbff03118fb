// purser import --states FOLDER: a folder of state files, as the copy tools of buckets leave it.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { workspaceOf } from '../src/import/state-files.ts'
import type { Client } from './support/client.ts'
import { engines, type Engine } from './support/engines.ts'
import { run, settingsOf, temporaryFolder, type Settings } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, made, uniqueName } from './support/world.ts'

const NUMBER = '12345678901234567890.10'
const network = stateText(
  `{"cidr": {"value": "10.0.0.0/8", "type": "string"}, "size": {"value": ${NUMBER}, "type": "number"}}`,
  7,
  'net',
)
const encrypted = '{"serial":3,"lineage":"enc","meta":{},"encrypted_data":"AAAA","encryption_version":"v0"}'

const files: Record<string, string> = {
  'env:/dev/app/terraform.tfstate': stateText('{}', 2, 'app'),
  'prod/network/terraform.tfstate': network,
  'prod/secret.tfstate': encrypted,
}
const others: Record<string, string> = {
  '.terraform/terraform.tfstate': '{"version": 3, "backend": {}}',
  'prod/network/terraform.tfstate.backup': 'old',
  'README.md': 'not a state',
}

function write(folder: string, named: Record<string, string>): void {
  for (const [name, text] of Object.entries(named)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

type World = { server: TestServer; folder: string; settings: Settings; client: Client; organization: string }

async function world(engine: Engine): Promise<World> {
  const server = await startServer(engine)
  onTestFinished(() => server.stop())
  const folder = temporaryFolder()
  write(folder, { ...files, ...others })
  return {
    server,
    folder,
    settings: settingsOf(server),
    client: server.admin,
    organization: uniqueName('acme'),
  }
}

const importing = ({ folder, settings, organization }: World, ...more: string[]) =>
  run(['import', '--states', folder, '--organization', organization, ...more], settings)

async function stateOf({ client, organization }: World, workspace: string) {
  const { json } = await client.get(`/organizations/${organization}/workspaces/${workspace}`)
  const { status, json: version } = await client.get(`/workspaces/${json.data.id}/current-state-version`)
  return { locked: json.data.attributes.locked, status, id: json.data.id, version: version.data }
}

describe.each(engines)('a folder of state files on %s', (engine) => {
  test('comes in by one command, byte for byte, into a new organization', async () => {
    const here = await world(engine)
    const first = await importing(here)
    expect(first).toMatchObject({
      code: 0,
      stdout: [
        'env:/dev/app/terraform.tfstate  app-dev       copied, serial 2, 0 outputs',
        'prod/network/terraform.tfstate  prod-network  copied, serial 7, 2 outputs',
        'prod/secret.tfstate             prod-secret   copied, serial 3, encrypted: its outputs cannot be read here',
        '',
      ].join('\n'),
      stderr: expect.stringMatching(
        /is new, and \w+ is its owner[^]*3 copied, 0 there already, 0 not copied\n$/,
      ),
    })
    const { version, locked } = await stateOf(here, 'prod-network')
    expect([
      locked,
      version.attributes.serial,
      version.attributes['state-version'],
      version.attributes.size,
    ]).toEqual([false, 7, 4, network.length])
    const download = await here.client.get(
      version.attributes['hosted-state-download-url'].replace(/^.*\/api\/v2/, ''),
    )
    expect(download.text).toBe(network)
    // The same again copies nothing.
    expect((await importing(here)).stderr).toMatch(/0 copied, 3 there already, 0 not copied\n$/)
    const again = await importing(here, '--json')
    expect(JSON.parse(again.stdout)).toMatchObject({
      organization: here.organization,
      'dry-run': false,
      interrupted: false,
      files: [
        {
          file: 'env:/dev/app/terraform.tfstate',
          workspace: 'app-dev',
          result: 'there',
          serial: 2,
          outputs: 0,
        },
        { workspace: 'prod-network', result: 'there', serial: 7, outputs: 2 },
        { workspace: 'prod-secret', result: 'there', serial: 3, outputs: null },
      ],
    })
  })

  test('is only looked at by a dry run', async () => {
    const here = await world(engine)
    write(here.folder, { 'broken.tfstate': '{"version": 4, "serial": 1' })
    const dry = await importing(here, '--dry-run')
    expect(dry).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^broken\.tfstate +broken +would not be copied: .*\n.*\n.* prod-network +would be copied, serial 7, 2 outputs\n/,
      ),
      stderr: expect.stringMatching(/3 would be copied, 0 there already, 1 not copied\n$/),
    })
    expect((await here.client.get(`/organizations/${here.organization}`)).status).toBe(404)
  })

  test('replaces a state only by a newer one of the same lineage, and leaves no lock', async () => {
    const here = await world(engine)
    const organization = await createTestOrganization(here.server)
    const own = { ...here, organization: organization.name }
    const id = await createWorkspace(organization, { name: 'prod-network' })
    await lock(here.client, id)
    const older = stateText('{}', 6, 'net')
    made(await postState(here.client, id, older, { state: base64(older), serial: 6, lineage: 'net' }), 201)
    await here.client.post(`/workspaces/${id}/actions/unlock`)
    expect((await importing(own)).code).toBe(0)
    expect((await stateOf(own, 'prod-network')).version.attributes.serial).toBe(7)
    write(here.folder, {
      'prod/network/terraform.tfstate': stateText('{}', 5, 'net'),
      'prod/secret.tfstate': stateText('{}', 9, 'another'),
    })
    const refused = await importing(own)
    expect([refused.code, refused.stdout.split('\n').slice(1)]).toEqual([
      1,
      [
        'prod/network/terraform.tfstate  prod-network  not copied: the state of the workspace here is not older, with serial 7',
        'prod/secret.tfstate             prod-secret   not copied: the state of the workspace here has another lineage',
        '',
      ],
    ])
    expect((await stateOf(own, 'prod-network')).locked).toBe(false)
  })

  test('goes on after an import that was killed, whose lock and unfinished version are there', async () => {
    const here = await world(engine)
    const organization = await createTestOrganization(here.server)
    const own = { ...here, organization: organization.name }
    const id = await createWorkspace(organization, { name: 'prod-network' })
    made(await here.client.post(`/workspaces/${id}/actions/lock`, { reason: 'purser import' }), 200)
    made(await postState(here.client, id, network, { serial: 7, lineage: 'net' }), 201)
    expect((await importing(own)).stderr).toMatch(/3 copied, 0 there already, 0 not copied\n$/)
    expect(await stateOf(own, 'prod-network')).toMatchObject({
      locked: false,
      version: { attributes: { serial: 7 } },
    })
  })

  test('copies what it can beside files that it cannot copy, and says why', async () => {
    const here = await world(engine)
    const long = 'x'.repeat(91)
    write(here.folder, {
      [`${long}.tfstate`]: stateText('{}'),
      'empty.tfstate': '',
      'no-serial.tfstate': '{"version": 4, "outputs": {}}',
      'twin/terraform.tfstate': stateText('{}'),
      'TWIN.tfstate': stateText('{}'),
    })
    symlinkSync('/etc/passwd', join(here.folder, 'link.tfstate'))
    const { code, stdout } = await importing(here)
    expect(code).toBe(1)
    const lines = Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/, 3))
        .map(([file, , result]) => [file, result]),
    )
    expect(lines).toMatchObject({
      'TWIN.tfstate': 'not copied: twin/terraform.tfstate has the same name',
      'twin/terraform.tfstate': 'not copied: TWIN.tfstate has the same name',
      'empty.tfstate': expect.stringMatching(/^not copied: /),
      'no-serial.tfstate': 'not copied: it has no serial, or none at its beginning',
      [`${long}.tfstate`]: expect.stringMatching(/^not copied: name .*90/),
      'prod/network/terraform.tfstate': 'copied, serial 7, 2 outputs',
    })
    expect(stdout).not.toContain('link')
    // A file that is no state leaves no empty workspace.
    expect((await here.client.get(`/organizations/${here.organization}/workspaces/empty`)).status).toBe(404)
  })
})

test.each([
  ['network.tfstate', 'network'],
  ['prod/network/terraform.tfstate', 'prod-network'],
  ['terraform.tfstate', 'terraform'],
  ['env:/dev/prod/network.tfstate', 'prod-network-dev'],
  ['network.tfstateenv:dev', 'network-dev'],
  ['network/default.tfstate', 'network'],
  ['network/dev.tfstate', 'network-dev'],
  ['network/terraform.tfstate.d/dev/terraform.tfstate', 'network-dev'],
  ['a b/c.d/é.tfstate', 'a-b-c-d--'],
])('the workspace of %s is %s', (path, name) => {
  expect(workspaceOf(path, 'path')).toBe(name)
})

test.each([
  ['prod/network.tfstate', 'network'],
  ['prod/network.tfstateenv:dev', 'network-dev'],
])('the workspace of %s is %s by its file alone', (path, name) => {
  expect(workspaceOf(path, 'file')).toBe(name)
})

test('import says which command is meant', async () => {
  const folder = temporaryFolder()
  write(folder, files)
  const settings = { PURSER_DATA: join(folder, 'data') }
  const saying = async (...args: string[]) => (await run(['import', ...args], settings)).stderr
  expect(await saying('--from', folder)).toMatch(
    /has no manifest\.json.*import --states .* --organization NAME/,
  )
  expect(await saying('--organization', 'acme')).toMatch(/say what to import: --from .* or --states/)
  expect(await saying('--states', folder)).toMatch(/name it with --organization/)
  expect(await saying('--states', join(folder, 'none'), '--organization', 'acme')).toMatch(
    /there is no folder/,
  )
  expect(await saying('--from', folder, '--states', 'some')).toMatch(
    /--states is current, all, none with --from/,
  )
})
