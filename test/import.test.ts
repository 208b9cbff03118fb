import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runExport } from '../src/import/export.ts'
import { FileSource } from '../src/import/file-source.ts'
import { backedUpTables } from '../src/operation/backup-tables.ts'
import type { Client, Json } from './support/client.ts'
import { engines, type Engine } from './support/engines.ts'
import { InterruptedSource, OddSource, sourceOf, WithoutJsonStates } from './support/import-sources.ts'
import {
  createSourceWorld,
  documentsOf,
  importInto,
  jsonState,
  silent,
  states,
} from './support/import-world.ts'
import { temporaryFolder } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { base64, createState, lock, postState, stateText } from './support/states.ts'
import {
  addMember,
  body,
  createTeam,
  createTestOrganization,
  createUser,
  createWorkspace,
  invitePerson,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const tokenOf = ({ owner }: TestOrganization) => owner.client.token as string

/** The organization, with requests by the site administrator. */
const asAdmin = ({ admin }: TestServer, world: TestOrganization): TestOrganization => ({
  ...world,
  owner: { ...world.owner, client: admin },
})

/** The content of all tables as text, except what is written with a delay: refusals, and when tokens were used. */
async function contentOf({ app }: TestServer): Promise<Record<string, string>> {
  return app.deps.database.read(async (tx) => {
    const tables: Record<string, string> = {}
    for (const [table] of backedUpTables) {
      if (table === 'refusals' || table === 'refusal_requests') continue
      const rows = await tx.db.selectFrom(table).selectAll().execute()
      // The sweep writes its time after a minute.
      const kept = rows.filter((row) => !('key' in row) || row.key !== 'retention-clock')
      tables[table] = JSON.stringify(kept.map((row) => ({ ...row, last_used_at: undefined })))
    }
    return tables
  })
}

describe.each(engines)('an import on %s', { timeout: 300_000 }, (engine: Engine) => {
  let source: TestServer
  let target: TestServer
  beforeAll(async () => {
    source = await startServer(engine)
    target = await startServer(engine)
  })
  afterAll(async () => {
    await source.stop()
    await target.stop()
  })

  test('copies everything, documents alike and states byte for byte; a second one copies nothing', async () => {
    const world = await createSourceWorld(source)
    const from = sourceOf(source.address, tokenOf(world))
    const before = await contentOf(target)
    const dry = await importInto(target, from, { isDryRun: true })
    expect(await contentOf(target)).toEqual(before)

    const report = await importInto(target, from)
    expect(report.notCopied).toEqual([])
    expect(report.leftBehind.map(({ kind, name }) => [kind, name])).toEqual([
      ['locks', 'plain'],
      ['tokens', 'a token "ci" of the team readers'],
    ])
    expect(report.organizations[0]?.copied).toEqual({
      organizations: 1,
      projects: 1,
      teams: 2,
      workspaces: 2,
      users: 3,
      memberships: 5,
      'team members': 4,
      'team-projects': 1,
      'team-workspaces': 2,
      'remote state consumers': 1,
      'state versions': states.length,
    })
    expect(dry.organizations).toEqual(report.organizations)
    const there = await documentsOf(source.admin, world.name)
    expect(there.versions).toHaveLength(states.length)
    expect(there.versions.filter(({ json }: { json: string | null }) => json !== null)).toHaveLength(1)
    expect(there.members.map(({ status }: { status: string }) => status).sort()).toEqual([
      'active',
      'active',
      'active',
      'invited',
      'invited',
    ])
    expect(await documentsOf(target.admin, world.name)).toEqual(there)

    const copied = await contentOf(target)
    const second = await importInto(target, from)
    expect(second.notCopied).toEqual([])
    expect(second.organizations[0]?.copied).toEqual({})
    expect(await contentOf(target)).toEqual(copied)
  })

  test('an organization that takes no user tokens is copied, and takes none here', async () => {
    const world = await createTestOrganization(source)
    const path = `/organizations/${world.name}`
    const closed = { 'user-tokens-enabled': false, 'max-ttl-enabled': true }
    expect((await source.admin.patch(path, body('organizations', closed))).status).toBe(200)
    await createState(asAdmin(source, world), '{}')
    const from = sourceOf(source.address, source.admin.token as string)
    const report = await importInto(target, from, { organizations: [world.name] })
    expect(report.notCopied).toEqual([])
    expect((await target.admin.get(path)).json.data.attributes).toMatchObject(closed)
    expect(await documentsOf(target.admin, world.name)).toEqual(await documentsOf(source.admin, world.name))
  })

  test('another state with the same serial and size is not taken for the one there', async () => {
    const world = await createTestOrganization(source)
    const { workspaceId } = await createState(world, '{"a": {"value": 1, "type": "number"}}')
    const from = sourceOf(source.address, tokenOf(world))
    await importInto(target, from)
    const push = async (client: Client, id: string, state: string) => {
      await lock(client, id)
      expect((await postState(client, id, state, { state: base64(state), force: true })).status).toBe(201)
      await client.post(`/workspaces/${id}/actions/unlock`)
    }
    const here = await target.admin.get(`/organizations/${world.name}/workspaces`)
    const ours = stateText('{"a": {"value": 2, "type": "number"}}', 2)
    const theirs = stateText('{"a": {"value": 3, "type": "number"}}', 2)
    expect(ours).toHaveLength(theirs.length)
    await push(target.admin, here.json.data[0].id, ours)
    await push(world.owner.client, workspaceId, theirs)
    const second = await importInto(target, from)
    expect(second.organizations[0]?.there['state versions']).toBeUndefined()
    expect(second.notCopied.map(({ reason }) => reason)).toEqual([expect.stringContaining('of its own here')])
    expect(second.organizations[0]?.copied).toEqual({})
  })

  test('a snapshot that is current for nobody yet is not copied; an older one is a state', async () => {
    const world = await createTestOrganization(source)
    const { client } = world.owner
    const id = await createWorkspace(world, { name: 'w' })
    await lock(client, id)
    for (const [serial, intermediate] of [
      [1, true],
      [2, false],
      [3, true],
    ] as const) {
      const state = stateText('{}', serial)
      expect((await postState(client, id, state, { state: base64(state), intermediate })).status).toBe(201)
    }
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.organizations[0]?.copied['state versions']).toBe(2)
    expect(report.notCopied.map(({ reason }) => reason)).toEqual([expect.stringContaining('1 snapshots')])
    const { versions } = await documentsOf(target.admin, world.name)
    expect(versions.map((one: Json) => one.attributes.serial)).toEqual([2, 1])
  })

  test('an export leaves out a snapshot and a JSON state that cannot be read, and has the state', async () => {
    const world = await createTestOrganization(source)
    const { client } = world.owner
    const id = await createWorkspace(world, { name: 'w' })
    await lock(client, id)
    const given = { 'json-state': base64(jsonState) }
    for (const [serial, intermediate] of [
      [1, false],
      [2, true],
    ] as const) {
      const state = base64(stateText('{}', serial))
      expect(
        (await postState(client, id, stateText('{}', serial), { state, intermediate, ...given })).status,
      ).toBe(201)
    }
    const folder = join(temporaryFolder(), 'export')
    const from = new WithoutJsonStates(source.address, tokenOf(world))
    const options = { organizations: [], progress: silent(), signal: new AbortController().signal }
    const report = await runExport(folder, from, { ...options, states: 'current', maxStateBytes: 1_000_000 })
    expect(report.notCopied.map(({ name }) => name)).toEqual(['w', 'JSON state of serial 1 of w'])
    const imported = await importInto(target, new FileSource(folder), { states: 'current' })
    expect(imported.notCopied).toEqual([])
    const { versions } = await documentsOf(target.admin, world.name)
    expect(versions.map(({ attributes, json }: Json) => [attributes.serial, json])).toEqual([[1, null]])
  })

  test('a dry run finds what this server will refuse, as the import does', async () => {
    const world = await createTestOrganization(source)
    await createTeam(world, { name: 'fine' })
    const odd = new OddSource(source.address, tokenOf(world))
    const dry = await importInto(target, odd, { isDryRun: true })
    const real = await importInto(target, odd)
    expect(dry.notCopied).toEqual(real.notCopied)
    expect(dry.notCopied.map(({ kind, name }) => [kind, name])).toEqual([
      ['organizations', world.name],
      ['teams', 'odd'],
      ['teams', 'without'],
      ['workspaces', 'tagged'],
      // The source does not know this team, either.
      ['team-workspaces', 'all on tagged'],
      ['remote state consumers', 'all of tagged'],
      ['state versions', 'all of tagged'],
    ])
    expect(dry.organizations).toEqual(real.organizations)
  })

  test('one that was killed before it wrote down that it made the organization goes on', async () => {
    const world = await createTestOrganization(source)
    const from = sourceOf(source.address, tokenOf(world))
    await importInto(target, from)
    await target.app.deps.database.write(async (tx) => {
      await tx.db.deleteFrom('audit_events').where('action', '=', 'organization.import').execute()
    })
    await createTeam(world, { name: 'later' })
    expect((await importInto(target, from)).organizations[0]?.copied).toEqual({ teams: 1 })
  })

  test('the current states alone, and later what is newer; older ones cannot be put below', async () => {
    const world = await createTestOrganization(source)
    const { client } = world.owner
    const { workspaceId } = await createState(world, '{}')
    const push = async (state: string, more: object = {}) => {
      await lock(client, workspaceId)
      expect((await postState(client, workspaceId, state, { state: base64(state), ...more })).status).toBe(
        201,
      )
      await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    }
    await push(stateText('{}', 2))
    const from = sourceOf(source.address, tokenOf(world))
    const first = await importInto(target, from, { states: 'current' })
    expect(first.organizations[0]?.copied['state versions']).toBe(1)
    // A state with a lower serial and another lineage, pushed by force. The newest is still the current one.
    await push(stateText('{"a": {"value": 1, "type": "number"}}', 1_000))
    await push(stateText('{"b": {"value": 1, "type": "number"}}', 7, 'another'), { force: true })
    const second = await importInto(target, from)
    expect(second.organizations[0]?.copied).toEqual({ 'state versions': 2 })
    expect(second.notCopied.map(({ reason }) => reason)).toEqual([
      '1 that are older than the current one here: older versions cannot be added',
    ])
    const here = await documentsOf(target.admin, world.name)
    const serials = here.versions.map((one: { attributes: { serial: number } }) => one.attributes.serial)
    expect(serials).toEqual([7, 1_000, 2])
    const outputs = await target.admin.get(
      `/workspaces/${await workspaceIdOf(world.name)}/current-state-version-outputs`,
    )
    expect(outputs.json.data[0].attributes.name).toBe('b')
    const none = await importInto(target, from, { states: 'none', toOrganization: `${world.name}-2` })
    expect(none.notCopied).toEqual([])
    expect((await documentsOf(target.admin, `${world.name}-2`)).versions).toEqual([])
  })

  test('bytes that force made current again are a version of their own, and current', async () => {
    const world = await createTestOrganization(source)
    const { client } = world.owner
    const first = stateText('{"a": {"value": 1, "type": "number"}}', 1)
    const { workspaceId } = await createState(world, '{"a": {"value": 1, "type": "number"}}')
    await lock(client, workspaceId)
    for (const state of [stateText('{"b": {"value": 1, "type": "number"}}', 2), first]) {
      const more = { state: base64(state), force: true }
      expect((await postState(client, workspaceId, state, more)).status).toBe(201)
    }
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.notCopied).toEqual([])
    expect(await documentsOf(target.admin, world.name)).toEqual(await documentsOf(source.admin, world.name))
    const outputs = await target.admin.get(
      `/workspaces/${await workspaceIdOf(world.name)}/current-state-version-outputs`,
    )
    expect(outputs.json.data[0].attributes.name).toBe('a')
  })

  test('an encrypted state is noted, because its outputs do not come with it', async () => {
    const world = await createTestOrganization(source)
    const { client } = world.owner
    const id = await createWorkspace(world, { name: 'sealed' })
    await lock(client, id)
    const state = '{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}'
    const beside = base64('{"a":{"sensitive":false,"type":"string","value":"b"}}')
    const more = { state: base64(state), 'json-state-outputs': beside }
    expect((await postState(client, id, state, more)).status).toBe(201)
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.notes).toContain(
      `${world.name}: the outputs of serial 1 of sealed cannot be read here: OpenTofu has encrypted the state, and they are not in it`,
    )
    const current = `/workspaces/${await workspaceIdOf(world.name)}/current-state-version-outputs`
    expect((await target.admin.get(current)).status).toBe(409)
  })

  const workspaceIdOf = async (organization: string) =>
    (await target.admin.get(`/organizations/${organization}/workspaces`)).json.data[0].id

  test('a workspace that has got a state of its own, or is locked, keeps both', async () => {
    const world = await createTestOrganization(source)
    await createState(world, '{}', await createWorkspace(world, { name: 'a' }))
    await createState(world, '{}', await createWorkspace(world, { name: 'b' }))
    const from = sourceOf(source.address, tokenOf(world))
    await importInto(target, from, { states: 'none' })
    const list = (await target.admin.get(`/organizations/${world.name}/workspaces`)).json.data
    const [a, b] = list.map(({ id }: { id: string }) => id)
    await lock(target.admin, a)
    const own = stateText('{"own": {"value": 1, "type": "number"}}', 9)
    expect((await postState(target.admin, a, own, { state: base64(own) })).status).toBe(201)
    await target.admin.post(`/workspaces/${a}/actions/unlock`)
    await lock(target.admin, b)
    const report = await importInto(target, from)
    // Workspaces are copied side by side.
    const notCopied = report.notCopied.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    expect(notCopied.map(({ name, reason }) => [name, reason])).toEqual([
      ['a', 'the workspace has a state of its own here, which is not replaced'],
      ['b', 'the workspace is locked by User admin already'],
    ])
    expect((await target.admin.get(`/workspaces/${b}`)).json.data.attributes['locked-reason']).toBe('tests')
  })

  test('a state that is written here just before the import takes the lock is not replaced', async () => {
    const world = await createTestOrganization(source)
    const there = await createWorkspace(world, { name: 'a' })
    const push = async (client: Client, workspace: string, serial: number) => {
      const state = stateText(`{"v": {"value": ${serial}, "type": "number"}}`, serial)
      await lock(client, workspace)
      expect((await postState(client, workspace, state, { state: base64(state) })).status).toBe(201)
      await client.post(`/workspaces/${workspace}/actions/unlock`)
    }
    await push(world.owner.client, there, 1)
    const from = sourceOf(source.address, tokenOf(world))
    await importInto(target, from)
    await push(world.owner.client, there, 2)
    const path = `/organizations/${world.name}/workspaces/a`
    const { id } = (await target.admin.get(path)).json.data
    const read = from.content.bind(from)
    let isFirst = true
    // The import reads the state of the source that may be the current one here, to compare them.
    from.content = async (...given) => {
      if (isFirst) await push(target.admin, id, 9)
      isFirst = false
      return read(...given)
    }
    const report = await importInto(target, from)
    expect(report.notCopied.map(({ name, reason }) => [name, reason])).toEqual([
      ['a', 'the workspace got another state here meanwhile, which is not replaced'],
    ])
    const current = await target.admin.get(`/workspaces/${id}/current-state-version`)
    expect(current.json.data.attributes.serial).toBe(9)
    expect((await target.admin.get(path)).json.data.attributes.locked).toBe(false)
  })

  test('a state that another import of the same user writes under its lock is not replaced', async () => {
    const world = await createTestOrganization(source)
    const there = await createWorkspace(world, { name: 'a' })
    const textOf = (serial: number) => stateText(`{"v": {"value": ${serial}, "type": "number"}}`, serial)
    await lock(world.owner.client, there)
    for (const serial of [1, 2]) {
      const state = textOf(serial)
      await postState(world.owner.client, there, state, { state: base64(state) })
    }
    const from = sourceOf(source.address, tokenOf(world))
    const path = `/organizations/${world.name}/workspaces/a`
    const read = from.content.bind(from)
    let reads = 0
    from.content = async (...given) => {
      reads += 1
      if (reads === 2) {
        const { id } = (await target.admin.get(path)).json.data
        expect((await postState(target.admin, id, textOf(9), { state: base64(textOf(9)) })).status).toBe(201)
      }
      return read(...given)
    }
    const report = await importInto(target, from)
    expect(report.notCopied.map(({ name }) => name)).toEqual(['serial 2 of a'])
    const { id } = (await target.admin.get(path)).json.data
    const current = await target.admin.get(`/workspaces/${id}/current-state-version`)
    expect(current.json.data.attributes.serial).toBe(9)
  })

  test('a workspace that is deleted here meanwhile is reported, and the others get their states', async () => {
    const world = await createTestOrganization(source)
    for (const name of ['a', 'b', 'c']) {
      await createState(world, '{}', await createWorkspace(world, { name }))
    }
    const from = sourceOf(source.address, tokenOf(world))
    const deleted: number[] = []
    const read = from.states.bind(from)
    from.states = async (organization, workspace, which) => {
      if (workspace.name === 'b') {
        const path = `/organizations/${world.name}/workspaces/b`
        deleted.push((await target.admin.delete(path)).status)
      }
      return read(organization, workspace, which)
    }
    // The first import makes the workspace, and the third one finds it.
    for (const which of ['all', 'none', 'all'] as const) {
      const report = await importInto(target, from, { states: which })
      if (which === 'none') continue
      expect(report.notCopied.map(({ name, reason }) => [name, reason])).toEqual([
        ['b', 'it was deleted here meanwhile'],
      ])
    }
    expect(deleted).toEqual([204, 204])
    const { versions } = await documentsOf(target.admin, world.name)
    expect(versions).toHaveLength(2)
  })

  test('an organization that came from elsewhere is not added to, unless that is asked for', async () => {
    const world = await createTestOrganization(source)
    await createTeam(world, { name: 'admins' })
    const other = await createUser(target, 'other')
    const attributes = { name: world.name, email: 'x@example.com' }
    expect((await other.client.post('/organizations', body('organizations', attributes))).status).toBe(201)
    const from = sourceOf(source.address, tokenOf(world))
    const before = await contentOf(target)
    await expect(importInto(target, from)).rejects.toThrow(/--merge/)
    expect(await contentOf(target)).toEqual(before)
    const merged = await importInto(target, from, { isMerging: true })
    expect(merged.organizations[0]?.copied).toMatchObject({ teams: 1, memberships: 1 })
    expect(merged.notCopied.map(({ reason }) => reason)).toEqual(['another value here: email'])
  })

  test('a user here with the same name and another email is another person', async () => {
    const world = await createTestOrganization(source)
    const member = await addMember(source, world)
    const namesake = body('users', { username: member.username, email: `${uniqueName('x')}@example.com` })
    const made = await target.admin.post('/admin/users', namesake)
    expect(made.status).toBe(201)
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.notCopied).toMatchObject([{ kind: 'users', name: member.username }])
    const members = (await documentsOf(target.admin, world.name)).members
    expect(members).toContainEqual({ email: member.email, status: 'invited', teams: [] })
    const list = await target.admin.get(`/organizations/${world.name}/organization-memberships?include=user`)
    const users = list.json.included.map(({ id }: { id: string }) => id)
    expect(users).not.toContain(made.json.data.id)
  })

  test('a user who exists here is found by their email, and need not accept', async () => {
    const world = await createTestOrganization(source)
    const member = await addMember(source, world)
    const here = body('users', { username: uniqueName('renamed'), email: member.email.toUpperCase() })
    const made = await target.admin.post('/admin/users', here)
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.notCopied).toEqual([])
    const list = await target.admin.get(
      `/organizations/${world.name}/organization-memberships?filter[status]=active`,
    )
    const users = list.json.data.map(
      (one: { relationships: { user: { data: { id: string } } } }) => one.relationships.user.data.id,
    )
    expect(users).toContain(made.json.data.id)
  })

  test('what is hidden from the token is in the report', async () => {
    const world = await createTestOrganization(source)
    const member = await addMember(source, world)
    await createTeam(world, { name: 'hidden' })
    await createTeam(world, { name: 'seen', visibility: 'organization' })
    await createState(world, '{}')
    const report = await importInto(target, sourceOf(source.address, member.client.token as string))
    const reasons = report.notCopied.map(({ kind, reason }) => [kind, reason])
    expect(reasons[0]).toEqual(['organizations', expect.stringContaining('does not belong to an owner')])
    expect(reasons).toContainEqual(['memberships', 'it is hidden from this token, or not there'])
    const teams = (await documentsOf(target.admin, world.name)).teams
    expect(teams.map(({ name }: { name: string }) => name)).toEqual(['owners', 'seen'])
    expect(JSON.stringify(report.toJson())).not.toContain('hidden"')
  })

  test('210 teams and 210 workspaces come whole, over three pages', async () => {
    const world = await createTestOrganization(source)
    const numbers = Array.from({ length: 210 }, (_, number) => number)
    await Promise.all(numbers.map((number) => createTeam(world, { name: `team-${number}` })))
    await Promise.all(numbers.map((number) => createWorkspace(world, { name: `workspace-${number}` })))
    const report = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(report.notCopied).toEqual([])
    expect(report.organizations[0]?.copied).toMatchObject({ teams: 210, workspaces: 210 })
    const names = async (server: TestServer) => {
      const { teams, workspaces } = await documentsOf(server.admin, world.name)
      return [teams, workspaces].map((list) => list.map(({ name }: { name: string }) => name))
    }
    expect(await names(target)).toEqual(await names(source))
  }, 300_000)

  test('one that is stopped leaves nothing half there, and goes on from there', async () => {
    const world = await createTestOrganization(source)
    await invitePerson(world, { email: `${uniqueName('i')}@example.com` })
    for (const name of ['a', 'b', 'c']) {
      await createState(world, '{}', await createWorkspace(world, { name }))
    }
    const controller = new AbortController()
    const from = new InterruptedSource(source.address, tokenOf(world), controller)
    const stopped = await importInto(target, from, { signal: controller.signal })
    expect(stopped.isInterrupted).toBe(true)
    const half = await documentsOf(target.admin, world.name)
    expect(half.versions.length).toBeLessThan(3)
    const list = (await target.admin.get(`/organizations/${world.name}/workspaces`)).json.data
    expect(list.map((one: { attributes: { locked: boolean } }) => one.attributes.locked)).toEqual([
      false,
      false,
      false,
    ])
    const resumed = await importInto(target, sourceOf(source.address, tokenOf(world)))
    expect(resumed.organizations[0]?.copied).toEqual({ 'state versions': 3 - half.versions.length })
    expect(await documentsOf(target.admin, world.name)).toEqual(await documentsOf(source.admin, world.name))
  })
})
