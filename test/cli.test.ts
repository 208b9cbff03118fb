import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Browser } from './support/browser.ts'
import { Client, NOT_FOUND, type Json } from './support/client.ts'
import { engines } from './support/engines.ts'
import { base64, lock, postState } from './support/states.ts'
import {
  ADMIN_TOKEN,
  Purser,
  run,
  runWithout,
  settingsFor,
  temporaryFolder,
  type Settings,
} from './support/purser.ts'

/** Runs a command that must succeed, and returns its output. */
async function output(args: readonly string[], settings: Record<string, string>): Promise<string> {
  const { code, stdout, stderr } = await run(args, settings)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trim()
}

const lines = (text: string) => text.split('\n').map((line) => JSON.parse(line))

describe.each(engines)('the command line on %s', (engine) => {
  test('users, tokens and organizations that are made beside a server are there at once, and audited', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const jane = JSON.parse(
      await output(['user', 'create', 'jane', '--email', 'jane@example.com', '--token', '--json'], settings),
    )
    expect(jane).toMatchObject({ username: 'jane', email: 'jane@example.com', 'is-admin': false })
    await output(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'JANE'], settings)
    const client = new Client(address, jane.token)
    expect((await client.get('/account/details')).json.data.id).toBe(jane.id)
    const list = await client.get('/organizations/acme/teams')
    expect(list.json.data.map((team: { attributes: { name: string } }) => team.attributes.name)).toEqual([
      'owners',
    ])

    const second = await run(['user', 'token', 'jane', '--expires', '30d', '--description', 'ci'], settings)
    expect(second.stderr).toMatch(/^expires 20/)
    expect((await new Client(address, second.stdout.trim()).get('/organizations/acme')).status).toBe(200)

    const events = lines(await output(['audit', '--json'], settings))
    expect(events.map((event) => event.action)).toEqual([
      'user.create',
      'user.create',
      'user-token.create',
      'organization.create',
      'user-token.create',
    ])
    expect(events.at(-2)).toMatchObject({
      actor: { kind: 'system' },
      organization: { name: 'acme' },
      details: { 'command-line-user': userInfo().username },
    })
    // The same event over HTTP does not name the person who was logged in to the server's machine.
    const shown = await client.get('/organizations/acme/audit-events')
    expect(shown.json.data.map((event: Json) => event.attributes.action)).toContain('organization.create')
    expect(shown.text).not.toContain('command-line-user')
    expect(JSON.stringify(events)).not.toContain(jane.token)
    const ofAcme = lines(
      await output(['audit', '--json', '--organization', 'acme', '--since', '1h'], settings),
    )
    expect(ofAcme).toHaveLength(1)
  })

  test('a command prints links that set a password', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const secretOf = (text: string) => /\/app\/~\/welcome#(\w+)/.exec(text)?.[1] ?? ''
    const password = 'correct horse battery'
    const admin = new Browser(address)
    // The first start prints none, because its output goes to no terminal.
    expect(purser.stdout).not.toContain('/welcome#')
    const first = await output(['user', 'password-link', 'admin'], settings)
    expect((await admin.signIn({ link: secretOf(first), password })).status).toBe(201)
    expect((await admin.get('/account/details')).json.data.attributes.username).toBe('admin')
    await output(['user', 'create', 'jane', '--email', 'jane@example.com'], settings)
    const link = await output(
      ['user', 'password-link', 'JANE', '--public-url', 'https://p.example'],
      settings,
    )
    expect(link).toMatch(/^https:\/\/p\.example\/app\/~\/welcome#\w+$/)
    const jane = new Browser(address)
    expect((await jane.signIn({ link: secretOf(link), password })).status).toBe(201)
    expect(await run(['user', 'password-link', 'nobody'], settings)).toMatchObject({
      code: 1,
      stderr: 'purser: there is no user nobody\n',
    })
  })

  test('owners who have shut themselves out are let in again', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const { token } = JSON.parse(
      await output(['user', 'create', 'jane', '--email', 'jane@example.com', '--token', '--json'], settings),
    )
    await output(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'jane'], settings)
    const client = new Client(address, token)
    const off = { data: { type: 'organizations', attributes: { 'user-tokens-enabled': false } } }
    expect((await client.patch('/organizations/acme', off)).status).toBe(200)
    expect((await client.get('/organizations/acme')).status).toBe(401)
    expect(await output(['organization', 'allow-user-tokens', 'acme'], settings)).toBe(
      'the organization acme takes user tokens',
    )
    expect((await client.get('/organizations/acme')).status).toBe(200)
    const [event] = lines(await output(['audit', '--json', '--organization', 'acme'], settings)).slice(-1)
    expect(event).toMatchObject({ action: 'organization.update', actor: { kind: 'system' } })
    const missing = await run(['organization', 'allow-user-tokens', 'other'], settings)
    expect([missing.code, missing.stderr.trim()]).toEqual([1, 'purser: there is no organization other'])
    expect(await purser.stop()).toBe(0)
  })

  test('access prints the levels on all workspaces or one, and what they come from', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const made = ['user', 'create', 'jane', '--email', 'jane@example.com', '--token', '--json']
    const jane = JSON.parse(await output(made, settings))
    await output(['user', 'create', 'rosa', '--email', 'rosa@example.com'], settings)
    await output(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'jane'], settings)
    const client = new Client(address, jane.token)
    const path = '/organizations/acme'
    const named = (type: string, name: string) => ({ data: { type, attributes: { name } } })
    const workspace = (await client.post(`${path}/workspaces`, named('workspaces', 'network'))).json.data
    await client.post(`${path}/workspaces`, named('workspaces', 'payments'))
    const team = (await client.post(`${path}/teams`, named('teams', 'readers'))).json.data
    const relationships = {
      team: { data: { type: 'teams', id: team.id } },
      workspace: { data: { type: 'workspaces', id: workspace.id } },
    }
    const data = { type: 'team-workspaces', attributes: { access: 'plan' }, relationships }
    const grant = (await client.post('/team-workspaces', { data })).json.data
    const access = (...args: string[]) => output(['access', '--organization', 'acme', ...args], settings)
    expect((await access('--team', 'readers')).split('\n')).toEqual([
      'name      level  because of',
      `network   plan   team-workspaces plan (${grant.id}) of team readers`,
      'payments  none   organization-member (only read-current-outputs)',
    ])
    expect((await access('--user', 'jane', '--workspace', 'network')).split('\n')[1]).toBe(
      'network  admin  organization-owner of team owners',
    )
    const asJson = JSON.parse(await access('--team', team.id, '--workspace', workspace.id, '--json'))
    const overHttp = await client.get(`${path}/effective-access?team=${team.id}&workspace=network`)
    expect(asJson.data).toEqual(overHttp.json.data)
    for (const [args, problem] of [
      [[], 'give either --user or --team'],
      [['--user', 'rosa', '--team', 'readers'], 'give either --user or --team'],
      [['--user', 'rosa', '--workspace', 'nothing'], 'there is no workspace nothing in acme'],
      [
        ['--team', 'nobody', '--project', 'a', '--workspace', 'b'],
        '--workspace and --project cannot be used together',
      ],
    ] as const) {
      const { code, stderr } = await run(['access', '--organization', 'acme', ...args], settings)
      expect({ code, stderr }).toEqual({ code: 1, stderr: `purser: ${problem}\n` })
    }
    const ofRosa = await access('--user', 'rosa', '--project', 'Default Project')
    expect(ofRosa.split('\n')[1]).toBe('Default Project  none   -')
  })

  test('what the rules refuse is refused, a line for each problem', async () => {
    const settings = await settingsFor(engine)
    await output(['migrate'], settings)
    const refused = async (args: string[]) => {
      const { code, stdout, stderr } = await run(args, settings)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      return stderr.trim().split('\n')
    }
    await output(['user', 'create', 'jane', '--email', 'jane@example.com'], settings)
    expect(await refused(['user', 'create', 'Jane', '--email', 'JANE@example.com'])).toEqual([
      'purser: username is already used by another user',
      'purser: email is already used by another user',
    ])
    expect(await refused(['user', 'create', 'a b', '--email', 'x'])).toHaveLength(2)
    expect(await refused(['user', 'token', 'nobody'])).toEqual(['purser: there is no user nobody'])
    expect((await refused(['user', 'token', 'jane', '--expires', '2001-01-01']))[0]).toMatch(/in the future/)
    for (const none of [
      '2222-02-30',
      '2222-04-31T12:00:00Z',
      '2222-01-31 june',
      '9999-12-31T23:59:59-14:00',
    ]) {
      expect((await refused(['user', 'token', 'jane', '--expires', none]))[0]).toMatch(/is neither a time/)
    }
    await output(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'jane'], settings)
    expect(
      await refused(['organization', 'create', 'acme', '--email', 'o@example.com', '--owner', 'jane']),
    ).toEqual(['purser: name is already used by another organization'])
  })

  test('migrate does what there is to do, once, and serving goes on from there', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    expect(await output(['migrate'], settings)).toMatch(
      /^migrated: 0001.*\nmade the indexes: users_listed, organizations_by_lower_name, authentication_tokens_by_creator, teams_with_access$/,
    )
    expect(JSON.parse(await output(['migrate', '--json'], settings))).toEqual({
      migrated: [],
      indexes: [],
    })
    const purser = new Purser(['serve'], settings)
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    expect((await client.get('/account/details')).json.data.attributes.username).toBe('admin')
    expect(await output(['migrate'], settings)).toMatch(/^nothing to do/)
  })

  test('a database without tables of Purser is not called an older one', async () => {
    const settings = await settingsFor(engine)
    mkdirSync(settings.PURSER_DATA as string, { mode: 0o700 })
    if (engine === 'sqlite') writeFileSync(join(settings.PURSER_DATA as string, 'purser.sqlite'), '')
    expect(await run(['user', 'list'], settings)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^purser: .* holds no tables of Purser: check the database URL or the data folder, .* migrate.*\n$/,
      ),
    })
  })

  test('nothing that others wrote moves the cursor of whoever reads the audit trail', async () => {
    const settings = await settingsFor(engine)
    const purser = new Purser(['serve'], { ...settings, PURSER_ADMIN_TOKEN: ADMIN_TOKEN })
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const admin = (await client.get('/account/details')).json.data.id
    // oxlint-disable-next-line unicorn/escape-case -- as it is printed
    const hostile = ['\u009b2J', '\u202e', '\u2066', '\u2028', '\u200f'].join('x')
    await client.post(`/users/${admin}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: hostile } },
    })
    const text = await output(['audit'], settings)
    const json = await output(['audit', '--json'], settings)
    for (const printed of [text, json]) {
      expect(printed).toContain('\\u009b2Jx\\u202ex\\u2066x\\u2028x\\u200f')
      expect(printed).not.toMatch(/[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
    }
    expect(lines(json).at(-1).details.description).toBe(hostile)
  })

  test('audit says how many events it left out, and takes a time until which to print', async () => {
    const settings = await settingsFor(engine)
    await output(['seed', '--json'], settings)
    const all = lines(await output(['audit', '--json', '--limit', '1000'], settings))
    expect(all.length).toBeGreaterThan(3)
    for (const format of [[], ['--json']]) {
      const { stdout, stderr } = await run(['audit', '--limit', '3', ...format], settings)
      expect(stdout.trim().split('\n')).toHaveLength(3)
      expect(stderr).toBe(`the newest 3 of ${all.length}; --limit shows more\n`)
    }
    const exactly = await run(['audit', '--limit', String(all.length)], settings)
    expect(exactly).toMatchObject({ code: 0, stderr: '' })
    const { at } = all[0]
    const first = lines(await output(['audit', '--json', '--until', at], settings))
    expect(first).toEqual(all.filter((event) => event.at <= at))
    const mixed = await run(['audit', '--until', at, '--follow'], settings)
    expect(mixed.stderr).toMatch(/'--until <when>' cannot be used with option '-f, --follow'/)
    expect((await run(['audit', '--limit', '10000000'], settings)).stderr).toMatch(
      /It must be a whole number from 1 to 9999999\./,
    )
  })

  test('audit --follow prints what happens from now on', async () => {
    const settings = await settingsFor(engine)
    await output(['migrate'], settings)
    const follow = new Purser(['audit', '--follow', '--limit', '1'], settings)
    await output(['user', 'create', 'first', '--email', 'first@example.com'], settings)
    await follow.says(/user\.create .*"username":"first"/)
    await output(['user', 'create', 'second', '--email', 'second@example.com'], settings)
    await follow.says(/user\.create .*"username":"second"/)
    expect(follow.stdout.trim().split('\n')).toHaveLength(2)
  })

  test('seed makes an example of everything that the pages show', async () => {
    const settings = await settingsFor(engine)
    const { people } = JSON.parse(await output(['seed', '--json'], settings))
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const listed = async (username: string, list: string) => {
      const { token } = people.find((one: { username: string }) => one.username === username)
      const { status, json } = await new Client(address, token).get(list)
      expect(status).toBe(200)
      return json.data.map(({ attributes }: Json) => attributes)
    }
    const demo = '/organizations/demo'
    const invited = await listed('anna', `${demo}/organization-memberships?filter[status]=invited`)
    expect(invited).toMatchObject([{ email: 'fay@demo.example' }])
    const versions = 'filter[workspace][name]=database&filter[organization][name]=demo'
    expect((await listed('anna', `/state-versions?${versions}`)).map(({ serial }: Json) => serial)).toEqual([
      3, 2, 1,
    ])
    const names = ({ name }: Json) => name
    expect((await listed('rosa', `${demo}/workspaces`)).map(names)).toEqual(['database', 'warehouse'])
    expect((await listed('rosa', `${demo}/projects`)).map(names)).toContain('data')
    const refusals = await listed('carl', `${demo}/refusals`)
    expect(refusals).toMatchObject([{ path: '/api/v2/organizations/demo/workspaces/database' }])
    await purser.stop()
    const granted = await output(['audit', '--action', 'team-workspace.create'], settings)
    expect(granted).toMatch(/ {2}apps on database \(tws-\w{16}\)/)
  })

  test('explain says why a request was refused, and what it would have needed', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const { people } = JSON.parse(await output(['seed', '--json'], settings))
    const tokens = new Map<string, string>(
      people.map(({ username, token }: { username: string; token: string }) => [username, token]),
    )
    const purser = new Purser(['serve'], settings)
    const address = await purser.address()
    const rosa = new Client(address, tokens.get('rosa'))
    const { id } = (await rosa.get('/organizations/demo/workspaces/database')).json.data
    const path = `/workspaces/${id}/current-state-version`
    const refused = await rosa.get(path)
    expect([refused.status, refused.text]).toEqual([404, NOT_FOUND])
    // Refusals are written with a delay, at the latest when the server stops.
    await purser.stop()
    const requestId = refused.headers.get('x-request-id') as string
    const text = (await output(['explain', requestId], settings)).split('\n')
    expect(text).toEqual([
      expect.stringMatching(
        /^The user rosa \(user-\w+\) was answered 404 to GET \/api\/v2\/workspaces\/ws-\w+\/current-state-version \(20.*Z\)\.$/,
      ),
      `The requested object (workspaces ${id}) exists, but the caller may not read states of the workspace: the permission state-version:read is missing.`,
      expect.stringMatching(
        /^The caller's role and grants were: member, custom access with state-versions: read-outputs/,
      ),
      'Any one of these would have been enough:',
      '  - a team with the organization-level permission read-workspaces or more',
      expect.stringMatching(
        /^ {2}- a team with access read or more on the workspace ws-\w+ or the project prj-/,
      ),
      expect.stringMatching(/^ {2}- a team with access custom with state-versions: read or more on /),
      '  - being an owner: a member of the team owners',
      expect.stringMatching(/^Grant it to a team that the caller is in, .*dry-run=true/),
      'The refusal belongs to the organization demo.',
      expect.stringMatching(
        /: npm run purser -- access --organization demo --user user-\w+ --workspace ws-\w+ --data \S+$/,
      ),
    ])
    const next = text.at(-1)?.split(' purser -- ')[1]?.split(' ') as string[]
    expect(await output(next, settings)).toContain('read-outputs')
    const json = JSON.parse(await output(['explain', requestId, '--json'], settings))
    expect(json).toMatchObject({ 'request-id': requestId, reason: 'forbidden', organization: 'demo' })
    const unknown = await run(['explain', 'nothing\u001b[31m'], settings)
    expect({ code: unknown.code, stdout: unknown.stdout }).toEqual({ code: 1, stdout: '' })
    expect(unknown.stderr).toBe(
      'purser: there is no refusal with the request id "nothing\\u001b[31m": a server stores the 404 answers to requests with a valid token, after 1 s at the latest. It keeps them for 7 days, the newest 10000 of each organization, and of equal ones the newest 20 ids\n',
    )
  })

  test('explain says why the outputs of a state version cannot be read', async () => {
    const settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    await output(['seed'], settings)
    const purser = new Purser(['serve'], settings)
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const { id } = (await client.get('/organizations/demo/workspaces/database')).json.data
    await lock(client, id)
    const encrypted = '{"serial":9,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}'
    const made = await postState(client, id, encrypted, { state: base64(encrypted), force: true })
    expect(made.status, made.text).toBe(201)
    await purser.stop()
    const version = made.json.data.id
    const before = made.json.data.relationships['previous-state-version'].data.id
    expect((await output(['explain', version], settings)).split('\n')).toEqual([
      `The state version ${version} has the serial 9 in the workspace database.`,
      `The outputs of the state version ${version} cannot be read: OpenTofu has encrypted its state, and the upload had no json-state-outputs. Requests for them are 409.`,
      'The next state has readable outputs if the client sends json-state-outputs with it, as OpenTofu does.',
    ])
    expect(JSON.parse(await output(['explain', version, '--json'], settings))).toMatchObject({
      id: version,
      'outputs-unreadable-reason': 'encrypted',
    })
    expect(await output(['explain', before], settings)).toMatch(/\nIts outputs can be read: \d+\.$/)
    const unknown = await run(['explain', `sv-${'1'.repeat(16)}`], settings)
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      `purser: there is no state version sv-${'1'.repeat(16)}\n`,
    ])
  })

  test('doctor finds nothing wrong with a fresh server', async () => {
    const settings = await settingsFor(engine)
    await new Purser(['serve'], settings).address()
    const { findings } = JSON.parse(await output(['doctor', '--json'], settings))
    expect(findings.filter((finding: { result: string }) => finding.result === 'problem')).toEqual([])
    expect(findings.map((finding: { check: string }) => finding.check)).toEqual(
      expect.arrayContaining([
        'settings',
        'tls',
        'data folder',
        'disk',
        'database',
        'secret key',
        'background jobs',
        'tokens',
      ]),
    )
  })

  test('doctor asks the database whether it accepts the token in admin-token', async () => {
    const settings = await settingsFor(engine)
    await new Purser(['serve'], settings).address()
    const file = join(settings.PURSER_DATA as string, 'admin-token')
    expect(await output(['doctor'], settings)).toMatch(
      /admin-token holds a valid token: delete the file once/,
    )
    writeFileSync(file, 'a token of another database')
    expect(await output(['doctor'], settings)).toMatch(
      /^note +data folder +.*admin-token holds a token that this database does not accept: delete the file/m,
    )
  })

  test('nothing in the data folder shows a token in clear', async () => {
    const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    await purser.address()
    const token = await output(['user', 'token', 'admin'], settings)
    const backup = join(temporaryFolder(), 'backup')
    await output(['backup', backup], settings)
    await purser.stop()
    const folder = settings.PURSER_DATA as string
    const files = [
      backup,
      ...(engine === 'sqlite' ? readdirSync(folder).map((name) => join(folder, name)) : []),
    ]
    expect(files.length).toBeGreaterThan(engine === 'sqlite' ? 2 : 0)
    for (const file of files) {
      expect([file, readFileSync(file).includes(ADMIN_TOKEN)]).toEqual([file, false])
      expect([file, readFileSync(file).includes(token)]).toEqual([file, false])
    }
  })
})

describe('doctor', () => {
  test('names what is wrong, and ends with 1', async () => {
    const settings = await settingsFor('sqlite')
    const missing = await run(['doctor'], settings)
    expect(missing.code).toBe(1)
    expect(missing.stdout).toMatch(/^problem +data folder +there is no /m)
    const purser = new Purser(['serve'], settings)
    await purser.address()
    await purser.stop()
    const folder = settings.PURSER_DATA as string
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'secret-key'), 'a'.repeat(64))
    const { code, stdout } = await run(['doctor'], settings)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^problem +data folder +others may look into .*: chmod -R go= /m)
    expect(stdout).toMatch(/^problem +secret key +the secret key is not the one of this database/m)
    expect((await run(['doctor'], { ...settings, PURSER_WORKERS: '0' })).stdout).toMatch(
      /^problem +settings /,
    )
  })
})

describe('the command line', () => {
  test('--help teaches, --version tells, and a wrong word is one line', async () => {
    const help = await run(['--help'])
    expect(help).toMatchObject({ code: 0, stderr: '' })
    for (const name of [
      'serve',
      'migrate',
      'user',
      'organization',
      'team',
      'token',
      'seed',
      'backup',
      'restore',
      'import',
      'export',
      'audit',
      'explain',
      'doctor',
      'config',
    ]) {
      expect(help.stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
    expect(help.stdout).toContain('Examples:')
    expect((await run(['user', 'create', '--help'])).stdout).toContain('Example:')
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    const nothing = await run([])
    expect(nothing).toMatchObject({ code: 1, stdout: '', stderr: help.stdout })
    const shown = await run(['user', 'create', '--help'])
    expect(await run(['help', 'user', 'create'])).toEqual(shown)
    expect(await run(['help'])).toEqual(help)
    const unhelpful = await run(['help', 'nope'])
    expect(unhelpful).toMatchObject({ code: 1, stdout: '' })
    expect(unhelpful.stderr).toMatch(/^purser: there is no command nope; .*\n$/)
    expect(await run(['user', 'help', 'create'])).toEqual(shown)
    for (const words of [
      ['user', 'nope'],
      ['help', 'user', 'nope'],
      ['user', 'help', 'nope'],
    ]) {
      expect(await run(words)).toEqual({
        code: 1,
        stdout: '',
        stderr:
          'purser: there is no command user nope; choose from create, invite, suspend, unsuspend, token, password-link, end-tokens, list, show, delete (--help says more)\n',
      })
    }
    for (const option of [['--emial', 'x'], ['--emial=x']]) {
      expect((await run(['user', 'create', ...option, 'bob'])).stderr).toMatch(
        /^purser: unknown option '--emial' .*\n$/,
      )
    }
    expect((await run(['user', 'create', 'bob'])).stderr).toMatch(/^purser: required option '--email /)
    const wrong = await run(['sreve'])
    expect(wrong).toMatchObject({ code: 1, stdout: '' })
    expect(wrong.stderr).toMatch(/^purser: there is no command sreve; .*\n$/)
    expect((await run(['user', 'token'])).stderr).toMatch(
      /^purser: missing required argument 'username' .*\n$/,
    )
  })

  test('audit verify looks at the database that is named before or after the word verify', async () => {
    const data = join(temporaryFolder(), 'nowhere')
    const named = ['--data', data]
    const settings = await settingsFor('sqlite')
    await output(['migrate'], settings)
    for (const args of [
      ['audit', ...named, 'verify'],
      ['audit', 'verify', ...named],
    ]) {
      expect(await run(args, settings)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^purser: there is no database in .*nowhere: .*\n$/),
      })
    }
    expect(JSON.parse(await output(['audit', '--json', 'verify'], settings))).toMatchObject({ intact: true })
  })

  test('audit verify --seen says in a line that a file is no earlier output', async () => {
    const settings = await settingsFor('sqlite')
    await output(['migrate'], settings)
    const file = join(temporaryFolder(), 'seen.json')
    const seen = () => run(['audit', 'verify', '--seen', file], settings)
    expect((await seen()).stderr).toMatch(/^purser: cannot read .*seen\.json: ENOENT.*\n$/)
    // npm run prints such lines before the JSON.
    writeFileSync(file, '\n> purser@0.1.0 purser\n\n{}\n')
    expect(await seen()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^purser: .*seen\.json is not the output of audit verify --json .*\n$/),
    })
    writeFileSync(file, await output(['audit', 'verify', '--json'], settings))
    expect(await seen()).toMatchObject({ code: 0 })
  })

  test('a folder that this user may not look into is one clear line, whatever the command', async () => {
    const settings = await settingsFor('sqlite')
    expect((await run(['migrate'], settings)).code).toBe(0)
    const data = settings.PURSER_DATA as string
    const forbidden = (args: string[]) => runWithout(data, args, settings)
    for (const args of [
      ['user', 'create', 'jane', '--email', 'jane@example.com'],
      ['backup', join(data, '../backup')],
      ['explain', 'x'],
      ['audit'],
    ]) {
      const { code, stdout, stderr } = await forbidden(args)
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
      expect(stderr).toMatch(
        /^purser: this user may not use the database in .* \(EACCES\): run the command as .*\n$/,
      )
    }
    const doctor = await forbidden(['doctor'])
    expect(doctor).toMatchObject({ code: 1, stderr: '' })
    expect(doctor.stdout).toMatch(/^problem +data folder +this user may not look into/m)
    expect(doctor.stdout).toMatch(/^problem +database +this user may not use the database/m)
  })

  test('a file that is no backup, or half of one, is said so', async () => {
    const settings = await settingsFor('sqlite')
    const folder = temporaryFolder()
    for (const [content, problem] of [
      ['garbage', 'is not a backup of Purser'],
      ['', 'it ends too early'],
    ] as const) {
      const file = join(folder, 'given')
      writeFileSync(file, content)
      const { code, stderr } = await run(['restore', file], settings)
      expect({ content, code }).toEqual({ content, code: 1 })
      expect(stderr).toContain(problem)
    }
  })

  test('doctor says a line of whatever it finds instead of a data folder', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    const atFile = await run(['doctor'], { PURSER_DATA: file })
    expect(atFile.stdout).toMatch(/^problem +data folder +.*ENOTDIR/m)
    expect(atFile).toMatchObject({ code: 1, stderr: '' })
    const data = join(folder, 'data')
    mkdirSync(data, { mode: 0o700 })
    symlinkSync('/nowhere/at/all', join(data, 'dangling'))
    const dangling = await run(['doctor'], { PURSER_DATA: data })
    expect(dangling.stdout).toMatch(/^good +data folder/m)
    writeFileSync(join(data, 'purser.sqlite'), '')
    const empty = await run(['doctor'], { PURSER_DATA: data })
    expect(empty.stdout).toMatch(/^problem +database +.* holds no tables/m)
  })

  test.each([['config', 'tofu'], ['help'], ['user', '--help'], ['--version']])(
    'output that cannot be written is one line: %s %s',
    (...words) => {
      const full = openSync('/dev/full', 'w')
      const child = spawnSync(process.execPath, [resolve('src/main.ts'), ...words], {
        stdio: ['ignore', full, 'pipe'],
      })
      closeSync(full)
      expect([child.status, child.stderr.toString()]).toEqual([
        1,
        expect.stringMatching(/^purser: cannot write the output: ENOSPC.*\n$/),
      ])
    },
  )

  test('a problem is in the exit code, whether or not somebody reads all about it', async () => {
    const data = join(temporaryFolder(), 'nowhere')
    const child = spawn(process.execPath, [resolve('src/main.ts'), 'doctor', '--data', data])
    child.stdout.destroy()
    const [written, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'close')])
    expect([code, written.join('')]).toEqual([1, ''])
  })

  test('a server whose first lines nobody can read ends with 1 and says so', async () => {
    const data = join(temporaryFolder(), 'data')
    const words = ['serve', '--data', data, '--listen', '127.0.0.1:0']
    const child = spawn(process.execPath, [resolve('src/main.ts'), ...words])
    child.stdout.destroy()
    const [written, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'close')])
    expect([code, written.join('')]).toEqual([1, 'purser: cannot write the output: write EPIPE\n'])
  })

  test('work goes on when nobody reads the notes about it any more', async () => {
    const data = join(temporaryFolder(), 'data')
    const child = spawn(process.execPath, [resolve('src/main.ts'), 'migrate', '--data', data])
    child.stderr.destroy()
    const [written, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'close')])
    expect([code, written.join('')]).toEqual([0, expect.stringMatching(/^migrated: /)])
  })

  test('a database that is not there is not made by looking for it', async () => {
    const settings = { PURSER_DATA: join(temporaryFolder(), 'nowhere') }
    for (const args of [['audit'], ['backup', 'x'], ['user', 'token', 'admin']]) {
      const { code, stderr } = await run(args, settings)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^purser: there is no database in .*nowhere.*\n$/)
    }
    expect(() => statSync(settings.PURSER_DATA)).toThrow()
  })

  test('config tofu points the CLIs at this server, over http or https', async () => {
    const plain = await output(['config', 'tofu', '--listen', '0.0.0.0:4567'], {})
    expect(plain).toContain('host "localhost:4567" {')
    for (const service of ['state.v2', 'tfe.v2', 'tfe.v2.1', 'tfe.v2.2']) {
      expect(plain).toMatch(new RegExp(`^    "${service}" += "http://127\\.0\\.0\\.1:4567/api/v2/"$`, 'm'))
    }
    const secure = await output(
      ['config', 'tofu', '--public-url', 'https://p.example.com', '--hostname', 'my-purser.example.com'],
      {},
    )
    expect(secure).toContain('"https://p.example.com/api/v2/"')
    expect(secure).toContain('TF_TOKEN_my__purser_example_com')
    for (const [option, value, problem] of [
      ['--hostname', 'a"b', /^purser: "a\\"b" is no host name: give --hostname HOST or HOST:PORT\n$/],
      ['--hostname', '', /^purser: "" is no host name: /],
      ['--public-url', 'https://${x}', /^purser: "\$\{x\}" is no host name: /],
      ['--organization', 'a"b', /^purser: .* It must be letters, numbers, - and _\. /],
    ] as const) {
      expect(await run(['config', 'tofu', option, value])).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(problem),
      })
    }
    expect(await output(['config', 'tofu', '--listen', '127.0.0.1:80'], {})).toContain('host "localhost" {')
    for (const host of ['purser.internal:8443', 'bücher.example']) {
      expect(await output(['config', 'tofu', '--hostname', host], {})).toContain(`host "${host}" {`)
    }
  })
})
