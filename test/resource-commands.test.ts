import { readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../src/database/open.ts'
import { noteMeta } from '../src/database/meta-store.ts'
import { Client } from './support/client.ts'
import { engines, oneEngine, type Engine } from './support/engines.ts'
import {
  ADMIN_TOKEN,
  Purser,
  run,
  settingsFor,
  settingsOf,
  temporaryFolder,
  type Settings,
} from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { body, createTestOrganization, createUser } from './support/world.ts'

/** Runs a command that must succeed; the lines that it printed. */
async function linesOf(command: string, settings: Settings): Promise<string[]> {
  const { code, stdout, stderr } = await run(command.split(' '), settings)
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`)
  return stdout.trim().split('\n')
}

/** Runs a command that must fail; what it said. */
async function refused(command: string, settings: Settings): Promise<string> {
  const { code, stdout, stderr } = await run(command.split(' '), settings)
  expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' })
  return stderr.trim()
}

/** A running server with the users jane and rosa, and jane's organization acme with the team readers. */
async function world(engine: Engine): Promise<{ settings: Settings; address: string; jane: string }> {
  const server = await startServer(engine)
  onTestFinished(() => server.stop())
  const [jane] = await Promise.all(['jane', 'rosa'].map((username) => addUser(server, username)))
  const settings = settingsOf(server)
  await linesOf('organization create acme --email o@example.com --owner jane', settings)
  const readers = body('teams', { name: 'readers' })
  expect((await server.client(jane).post('/organizations/acme/teams', readers)).status).toBe(200)
  return { settings, address: server.address, jane: jane as string }
}

/** A user of this name; their token. */
async function addUser({ admin }: TestServer, username: string): Promise<string> {
  const user = await admin.post('/admin/users', body('users', { username, email: `${username}@example.com` }))
  const token = await admin.post(`/users/${user.json.data.id}/authentication-tokens`)
  return token.json.data.attributes.token
}

test.each(engines)('with the secret key of another database on %s, no command begins', async (engine) => {
  const settings: Settings = { ...(await settingsFor(engine)), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
  const admin = new Client(await new Purser(['serve'], settings).address(), ADMIN_TOKEN)
  await linesOf('user create rosa --email rosa@example.com', settings)
  await linesOf('organization create acme --email o@example.com --owner rosa', settings)
  expect((await admin.post('/organizations/acme/teams', body('teams', { name: 'readers' }))).status).toBe(200)
  const foreign = { ...settings, PURSER_SECRET_KEY: 'ab'.repeat(32) }
  const folder = temporaryFolder()
  for (const command of [
    'user delete rosa --yes',
    'team delete readers --organization acme --yes',
    'organization delete acme --yes',
    `export --organization acme ${join(folder, 'export')}`,
    `backup ${join(folder, 'backup')}`,
    'seed',
    'migrate',
  ]) {
    expect(await refused(command, foreign)).toMatch(
      /^purser: the secret key is not the one of this database: /,
    )
  }
  expect(readdirSync(folder)).toEqual([])
  expect(await linesOf('audit verify', settings)).toEqual([expect.stringContaining('intact')])
})

describe.each(oneEngine)('list, show and delete on %s', (engine) => {
  test('a morning of an administrator needs no other tool', async () => {
    const { settings, address, jane } = await world(engine)
    const said = async (command: string) => (await linesOf(command, settings)).join('\n')
    const client = new Client(address, jane)
    const memberships = '/organizations/acme/organization-memberships'
    const inAcme = '--organization acme'
    expect(await said(`workspace create network ${inAcme}`)).toMatch(
      /^made the workspace network \(ws-\w+\)$/,
    )
    expect(await said(`team create auditors ${inAcme} --visibility organization`)).toMatch(
      /^made the team auditors \(team-\w+\)$/,
    )
    expect(await said(`user invite rosa@example.com ${inAcme} --team auditors`)).toMatch(
      /^invited rosa@example\.com to acme \(ou-\w+\)$/,
    )
    const invited = (await client.get(memberships)).json.data.find(
      (one: { attributes: { status: string } }) => one.attributes.status === 'invited',
    )
    const rosa = new Client(address, (await linesOf('user token rosa', settings))[0])
    const accepted = await rosa.post(`/organization-memberships/${invited.id}/actions/accept`)
    expect(accepted.status).toBe(200)

    expect(await said(`team members add readers rosa jane ${inAcme}`)).toBe('added rosa, jane to readers')
    const members = await linesOf(`team members list readers ${inAcme}`, settings)
    expect(members.map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ['name', 'email', 'status'],
      ['jane', 'jane@example.com', 'active'],
      ['rosa', 'rosa@example.com', 'active'],
    ])
    expect(await said(`team members remove readers jane ${inAcme}`)).toBe('removed jane from readers')
    expect(await refused(`team members add readers nobody ${inAcme}`, settings)).toBe(
      'purser: there is no user nobody',
    )

    const levelOf = async () => {
      const { data } = (await rosa.get('/organizations/acme/workspaces/network')).json
      const list = await client.get(`/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${data.id}`)
      return list.json.data.map(({ attributes }: { attributes: Record<string, string> }) => [
        attributes['access'],
        attributes['state-versions'],
      ])
    }
    const grant = `team grant readers ${inAcme} --workspace network --access`
    expect(await said(`${grant} read-outputs`)).toBe(
      'the team readers has read-outputs on the workspace network',
    )
    expect(await levelOf()).toEqual([['custom', 'read-outputs']])
    expect(await said(`${grant} write`)).toBe('the team readers has write on the workspace network')
    expect(await levelOf()).toEqual([['write', 'write']])
    // Nothing of the level before stays.
    await said(`${grant} read-outputs`)
    const { data: grants } = (
      await client.get(
        `/team-workspaces?filter%5Bworkspace%5D%5Bid%5D=${(await client.get('/organizations/acme/workspaces/network')).json.data.id}`,
      )
    ).json
    expect(grants[0].attributes).toMatchObject({
      access: 'custom',
      'state-versions': 'read-outputs',
      'workspace-locking': false,
      runs: 'read',
      variables: 'none',
    })
    expect(await said(`${grant} none`)).toBe('took the access to the workspace network from the team readers')
    expect(await said(`${grant} none`)).toBe('the team readers had no access to the workspace network')
    const onProject = `team grant readers ${inAcme} --access`
    expect(await linesOf(`${onProject} maintain --project Default-Project`, settings).catch(String)).toMatch(
      /there is no project Default-Project in acme/,
    )
    expect(await refused(`${onProject} plan --project x`, settings)).toBe(
      'purser: a project has no level plan',
    )
    expect(await refused(`${onProject} maintain --workspace network`, settings)).toBe(
      'purser: a workspace has no level maintain',
    )
    expect(await refused(`${onProject} read`, settings)).toBe('purser: give either --workspace or --project')

    expect(await said('user suspend rosa')).toBe('suspended the user rosa')
    expect((await rosa.get('/account/details')).status).toBe(401)
    expect(await said('user unsuspend rosa')).toBe('unsuspended the user rosa')

    expect((await linesOf(`workspace list ${inAcme}`, settings))[1]).toMatch(/^network +no +/)
    const [event] = (await linesOf('audit --json --action user.suspend', settings)).map((line) =>
      JSON.parse(line),
    )
    expect(event.details['command-line-user']).toBe(userInfo().username)
    expect(event.actor.name).toBe('admin')
  })

  test('every deletion asks for --yes, and says what goes with it', async () => {
    const { settings } = await world(engine)
    await linesOf('workspace create network --organization acme', settings)
    const asked = (what: string) => refused(what, settings)
    expect(await asked('user delete rosa')).toBe(
      'purser: this deletes the user rosa with their tokens and memberships: confirm with --yes',
    )
    expect(await asked('organization delete acme')).toMatch(/with all of its workspaces and states: confirm/)
    expect(await asked('team delete readers --organization acme')).toMatch(
      /with its tokens and grants: confirm/,
    )
    expect(await asked('workspace delete network --organization acme')).toMatch(
      /with all of its states: confirm/,
    )
    expect(await asked('token delete at-1')).toBe('purser: this deletes the token at-1: confirm with --yes')
    expect(await linesOf('workspace delete network --organization acme --yes', settings)).toEqual([
      'deleted the workspace network',
    ])
    expect(await asked('workspace show network --organization acme')).toBe(
      'purser: there is no workspace network in acme',
    )
  })

  test.runIf(process.getuid?.() === 0)('with sudo, events name the human who called it', async () => {
    const { settings } = await world(engine)
    const sudo = { ...settings, SUDO_USER: 'ines' }
    await linesOf('team create auditors --organization acme', sudo)
    await linesOf('user create otto --email otto@example.com', sudo)
    for (const action of ['team.create', 'user.create']) {
      const events = await linesOf(`audit --json --action ${action}`, settings)
      expect(JSON.parse(events.at(-1) ?? '').details['command-line-user']).toBe('ines')
    }
  })

  test('users are listed, shown and deleted, by the rules of the interface', async () => {
    const { settings, address, jane } = await world(engine)
    const list = await linesOf('user list', settings)
    expect(list[0]).toMatch(/^name +email +administrator +suspended +id$/)
    expect(list.slice(1).map((line) => line.split(/ +/).slice(0, 4))).toEqual([
      ['admin', 'admin@localhost', 'yes', 'no'],
      ['jane', 'jane@example.com', 'no', 'no'],
      ['rosa', 'rosa@example.com', 'no', 'no'],
    ])
    const [shown] = await linesOf('user show ROSA --json', settings)
    const { data } = JSON.parse(shown as string)
    expect(data).toMatchObject({ type: 'users', attributes: { username: 'rosa' } })
    expect((await linesOf(`user show ${data.id}`, settings))[0]).toMatch(/^name +rosa$/)
    expect(await refused('user delete jane --yes', settings)).toBe(
      'purser: this is the last owner of the organization acme',
    )
    expect(await refused('user delete admin --yes', settings)).toBe(
      'purser: this is the last site administrator',
    )
    expect(await linesOf('user delete rosa --yes', settings)).toEqual(['deleted the user rosa'])
    expect(await refused('user show rosa', settings)).toBe('purser: there is no user rosa')
    expect(await refused('user delete rosa --yes', settings)).toBe('purser: there is no user rosa')
    const [event] = (await linesOf('audit --json --action user.delete', settings)).map((line) =>
      JSON.parse(line),
    )
    expect(event).toMatchObject({
      actor: { kind: 'user', name: 'admin', token: 'command-line' },
      details: { username: 'rosa' },
    })
    expect((await new Client(address, jane).get('/account/details')).status).toBe(200)
  })

  test('a deleted user leaves tokens of organizations, which are named or end with the user', async () => {
    const server = await startServer(engine)
    onTestFinished(() => server.stop())
    const settings = settingsOf(server)
    const { name, owner } = await createTestOrganization(server)
    const leavers = [await createUser(server), await createUser(server)]
    const tokens: Client[] = []
    for (const [number, { id, client }] of leavers.entries()) {
      await server.admin.post(`/admin/users/${id}/actions/grant_admin`)
      const path = `/organizations/${name}/authentication-token${number === 0 ? '' : '?token=audit-trails'}`
      const made = await client.post(path)
      tokens.push(server.client(made.json.data.attributes.token))
    }
    const [first, second] = leavers
    const kept = await run(['user', 'delete', first?.username ?? '', '--yes', '--as', 'admin'], settings)
    expect(kept).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        / made or saw these tokens, which stay valid: at-\w+ \(of .*\); purser token/,
      ),
    })
    const ended = await run(
      ['user', 'delete', second?.username ?? '', '--end-tokens', '--yes', '--as', 'admin'],
      settings,
    )
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect((await tokens[0]?.get(`/organizations/${name}`))?.status).toBe(200)
    const tokensLeft = await owner.client.get(
      `/organizations/${name}/authentication-token?token=audit-trails`,
    )
    expect(tokensLeft.status).toBe(404)
  })

  test('teams and tokens are listed, shown and deleted', async () => {
    const { settings, address, jane } = await world(engine)
    const teams = await linesOf('team list --organization acme', settings)
    expect(teams.map((line) => line.split(/ +/)[0])).toEqual(['name', 'owners', 'readers'])
    const team = await linesOf('team show owners --organization acme', settings)
    expect(team.at(-1)).toMatch(/^organization-access +manage-policies, .*, read-workspaces, /)
    const none = await run('token list --organization acme --team readers'.split(' '), settings)
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'there are no tokens\n' })
    const client = new Client(address, jane)
    await client.post('/organizations/acme/authentication-token', {})
    const teamId = JSON.parse((await linesOf('team show readers --organization acme --json', settings))[0]!)
    await client.post(`/teams/${teamId.data.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'ci' } },
    })
    const ofAcme = JSON.parse((await linesOf('token list --organization acme --json', settings))[0]!).data
    expect(ofAcme.map((token: { attributes: object }) => token.attributes)).toEqual([
      expect.objectContaining({ token: null, description: null }),
      expect.objectContaining({ token: null, description: 'ci' }),
    ])
    for (const { id } of ofAcme) {
      expect((await linesOf(`token show ${id}`, settings))[0]).toMatch(new RegExp(`^id +${id}$`))
      expect(await linesOf(`token delete ${id} --yes`, settings)).toEqual([`deleted the token ${id}`])
      expect(await refused(`token show ${id}`, settings)).toBe(`purser: there is no token ${id}`)
    }
    const [, ofJane = ''] = await linesOf('token list --user jane', settings)
    expect((await client.get('/account/details')).status).toBe(200)
    await linesOf(`token delete ${ofJane.split(' ')[0]} --yes`, settings)
    expect((await client.get('/account/details')).status).toBe(401)
    expect(await linesOf('team delete readers --organization acme --yes --json', settings)).toEqual([
      '{"deleted":"readers"}',
    ])
    expect(await refused('team show readers --organization acme', settings)).toBe(
      'purser: there is no team readers in acme',
    )
    expect(await refused('team list --organization other', settings)).toBe(
      'purser: there is no organization other',
    )
    for (const [command, problem] of [
      ['token list', 'give either --user or --organization'],
      ['token list --user jane --organization acme', 'give either --user or --organization'],
      ['token list --team readers', '--team needs --organization'],
    ] as const) {
      expect(await refused(command, settings)).toBe(`purser: ${problem}`)
    }
  })

  test('an id names the team that has it, and not a team of such a name', async () => {
    const { settings, address, jane } = await world(engine)
    const client = new Client(address, jane)
    const make = async (name: string): Promise<string> =>
      (await client.post('/organizations/acme/teams', { data: { type: 'teams', attributes: { name } } })).json
        .data.id
    const writers = await make('writers')
    const imitation = await make(writers)
    await linesOf(`team delete ${writers} --organization acme --yes`, settings)
    expect((await client.get(`/teams/${writers}`)).status).toBe(404)
    expect((await client.get(`/teams/${imitation}`)).status).toBe(200)
    await linesOf('organization create other --email o@example.com --owner jane', settings)
    expect(await refused(`team delete ${imitation} --organization other --yes`, settings)).toBe(
      `purser: there is no team ${imitation} in other`,
    )
  })

  test('tokens are listed with the one for audit trails, each on one line whatever its description', async () => {
    const { settings, address, jane } = await world(engine)
    const client = new Client(address, jane)
    const made = await client.post('/organizations/acme/authentication-token?token=audit-trails', {})
    const account = (await client.get('/account/details')).json.data
    await client.post(`/users/${account.id}/authentication-tokens`, {
      data: { type: 'authentication-tokens', attributes: { description: 'ci\nat-1111111111111111  forged' } },
    })
    const ofAcme = await linesOf('token list --organization acme', settings)
    expect(ofAcme.map((line) => line.split(' ')[0])).toEqual(['id', made.json.data.id])
    const ofJane = await linesOf('token list --user jane', settings)
    expect(ofJane).toHaveLength(3)
    expect(ofJane.join('\n')).toContain('ci\\u000aat-1111111111111111  forged')
  })

  test('a name of dots is only a name', async () => {
    const { settings } = await world(engine)
    for (const name of ['teams', 'team-tokens']) {
      await linesOf(`organization create ${name} --email o@example.com --owner jane`, settings)
    }
    for (const name of ['.', '..']) {
      const missing = `purser: there is no organization ${name}`
      expect(await refused(`team list --organization ${name}`, settings)).toBe(missing)
      expect(await refused(`token list --organization ${name}`, settings)).toBe(missing)
      expect(await refused(`organization delete ${name} --yes`, settings)).toBe(missing)
    }
  })

  test('an organization is deleted only when it is said twice', async () => {
    const { settings, address, jane } = await world(engine)
    expect((await linesOf('organization list', settings)).map((line) => line.split(/ +/)[0])).toEqual([
      'name',
      'acme',
    ])
    expect((await linesOf('organization show acme', settings))[1]).toMatch(/^email +o@example.com$/)
    expect(await refused('organization delete acme', settings)).toMatch(/all of its workspaces .*--yes$/)
    expect((await new Client(address, jane).get('/organizations/acme')).status).toBe(200)
    await linesOf('organization delete acme --yes', settings)
    expect((await new Client(address, jane).get('/organizations/acme')).status).toBe(404)
    expect(await refused('organization delete acme --yes', settings)).toBe(
      'purser: there is no organization acme',
    )
    const empty = await run(['organization', 'list'], settings)
    expect(empty).toMatchObject({ code: 0, stdout: '', stderr: 'there are no organizations\n' })
  })

  test('audit prints names beside ids in columns, and says so when there is nothing', async () => {
    const { settings } = await world(engine)
    const lines = await linesOf('audit', settings)
    const place = (line: string) => line.indexOf('acme')
    const ofAcme = lines.filter((line) => place(line) > 0)
    expect(ofAcme.map((line) => line.split(/ {2,}/).slice(1, 6))).toEqual([
      ['system', '-', 'organization.create', 'acme', expect.stringMatching(/^acme \(org-/)],
      ['user jane', '127.0.0.1', 'team.create', 'acme', expect.stringMatching(/^readers \(team-/)],
    ])
    expect(new Set(ofAcme.map(place)).size).toBe(1)
    expect(lines.join('\n')).toMatch(/user-token\.create .*"user":"jane \(user-\w{16}\)"/)
    const none = await run(['audit', '--action', 'nothing.create'], settings)
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'there are no such events\n' })
  })

  test('seed says which of its people are there already, and makes nobody', async () => {
    const settings = await settingsFor(engine)
    await linesOf('migrate', settings)
    await linesOf('user create rosa --email rosa@example.com', settings)
    expect(await refused('seed', settings)).toMatch(/^purser: there are users rosa already, .*--data$/)
    const { stdout } = await run(['user', 'list'], { ...settings })
    expect(stdout).not.toMatch(/^anna /m)
  })

  test('seed goes on with the people of an interrupted seed, and says how to make half a demo anew', async () => {
    const settings = await settingsFor(engine)
    await linesOf('migrate', settings)
    await linesOf('user create root --email root@example.com --admin', settings)
    await linesOf('user create anna --email anna@demo.example', settings)
    await linesOf('user create ben --email ben@demo.example', settings)
    await linesOf('organization create demo --email demo@demo.example --owner anna', settings)
    // What no seed has begun is none of its business.
    expect((await linesOf('seed', settings))[0]).toMatch(/^nothing to do: /)
    const { PURSER_DATA: data = '', PURSER_DATABASE_URL: databaseUrl } = settings
    const { database } = await openDatabase({ data, databaseUrl })
    await database.write((tx) => noteMeta(tx, 'unfinished demo', 'demo'))
    await database.close()
    const half = await refused('seed', settings)
    expect(half).toMatch(
      /^purser: the organization demo has only a part of the demo data, .* run seed again$/,
    )
    const [, advised = ''] = /purser -- (organization delete demo --yes) --data /.exec(half) ?? []
    await linesOf(advised, settings)
    const { people } = JSON.parse((await linesOf('seed --json', settings)).join(''))
    expect(people.map(({ username }: { username: string }) => username)).toEqual([
      'anna',
      'ben',
      'rosa',
      'carl',
      'dora',
    ])
    expect((await linesOf('seed', settings))[0]).toMatch(/^nothing to do: /)
  })
})

test('help lists the settings that a command is about, and a hint repeats the flags of its command', async () => {
  const { stdout } = await run(['import', '--help'])
  expect(stdout).toContain('--database-url')
  expect(stdout).not.toContain('--max-teams')
  expect((await run(['serve', '--help'])).stdout).toContain('--max-teams')
  const folder = join(temporaryFolder(), 'not here')
  expect(await run(['audit', '--data', folder])).toMatchObject({
    stderr: expect.stringContaining(`npm run purser -- migrate --data '${folder}'`),
  })
  // Such as a service, without npm.
  expect(await run(['audit', '--data', folder], { npm_lifecycle_event: '' })).toMatchObject({
    stderr: expect.stringContaining(` purser migrate --data '${folder}'`),
  })
  const purser = new Purser(['serve', '--data', folder, '--listen', '127.0.0.1:0'])
  const port = new URL(await purser.address()).port
  await purser.says(/config tofu/)
  expect(purser.stdout).toContain(`npm run purser -- config tofu --listen 127.0.0.1:${port}\n`)
  expect(purser.stdout).toContain(`--token --data '${folder}'\n`)
})
