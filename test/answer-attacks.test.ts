import { connect } from 'node:net'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { probeAttacks, startAttacked, type Attacked, type Attacks } from './support/attacks.ts'
import { engines, type Engine } from './support/engines.ts'
import { numberedIds, numbersUpTo } from './support/numbered-ids.ts'
import { isLong } from './support/runs.ts'
import { lock, postState, stateText } from './support/states.ts'
import { createWorkspace } from './support/world.ts'

const MIB = 1024 * 1024
const TIMEOUT_MS = isLong ? 3_600_000 : 300_000
/** In the long mode, as large as in the attacks of commit bbc6522. */
const [VALUE_BYTES, NAME_BYTES] = isLong ? [60 * MIB, 20 * MIB] : [6 * MIB, MIB]
const [TEAMS, MEMBERS] = isLong ? [100, 5_000] : [10, 1_000]
const TAGGED = isLong ? 99_000 : 3_000
const TIMES = isLong ? 20 : 4
const AT = '2026-01-01T00:00:00.000Z'

type World = Attacked & { outputs: Record<'large' | 'named', string>; tagId: string; teamPath: string }

/** Reads the body in slices without keeping it, so that the test itself needs little memory. */
async function read({ address, token }: World, path: string): Promise<void> {
  const response = await fetch(`${address}/api/v2${path}`, { headers: { authorization: `Bearer ${token}` } })
  for await (const part of response.body ?? []) void part
  expect(response.status).toBe(200)
}

const attacks: Attacks<World> = {
  'a large output, asked for many times on one connection': async (world) => {
    const path = `/api/v2/state-version-outputs/${world.outputs.large}`
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.token}\r\n\r\n`
    const socket = connect({ port: Number(new URL(world.address).port), host: '127.0.0.1' })
    socket.write(request.repeat(TIMES))
    let received = 0
    for await (const bytes of socket) {
      received += (bytes as Buffer).length
      if (received >= TIMES * VALUE_BYTES) break
    }
    expect(received).toBeGreaterThanOrEqual(TIMES * VALUE_BYTES)
  },
  'a large output, asked for and not read': async (world) => {
    const path = `/api/v2/state-version-outputs/${world.outputs.large}`
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.token}\r\n\r\n`
    const sockets = Array.from({ length: TIMES }, () => {
      const socket = connect({ port: Number(new URL(world.address).port), host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.pause()
      socket.write(request)
      return socket
    })
    await new Promise((resolve) => setTimeout(resolve, isLong ? 10_000 : 1_000))
    for (const socket of sockets) socket.destroy()
  },
  'an output with a large name': async (world) => {
    for (let time = 0; time < TIMES; time++) {
      await read(world, `/state-version-outputs/${world.outputs.named}`)
    }
  },
  'a list of teams with many members': (world) => read(world, `${world.teamPath}?page[size]=100`),
  'a list of teams with many members, who are included': (world) =>
    read(world, `${world.teamPath}?page[size]=100&include=users,organization-memberships`),
  'a tag that is deleted': async ({ address, token, tagId, attacker }) => {
    const response = await fetch(`${address}/api/v2/organizations/${attacker.name}/tags`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data: [{ type: 'tags', id: tagId }] }),
    })
    expect(response.status).toBe(204)
    // The rows of the tag are deleted afterwards, in the background.
    await new Promise((resolve) => setTimeout(resolve, isLong ? 20_000 : 500))
  },
}

async function startWorld(engine: Engine): Promise<World> {
  const attacked = await startAttacked(engine)
  const { attacker } = attacked
  const { client } = attacker.owner
  const outputs = {
    large: await outputOf(attacked, `{"a": {"value": "${'x'.repeat(VALUE_BYTES)}"}}`),
    named: await outputOf(attacked, `{"${'n'.repeat(NAME_BYTES)}": {"value": "x", "sensitive": true}}`),
  }
  const tagged = await createWorkspace(attacker)
  const tagging = await client.post(`/workspaces/${tagged}/relationships/tags`, {
    data: [{ type: 'tags', attributes: { name: 'everywhere' } }],
  })
  expect(tagging.status).toBe(204)
  const teamPath = `/organizations/${attacker.name}/teams`
  const tags = await client.get(`/organizations/${attacker.name}/tags`)
  const tagId: string = tags.json.data[0].id
  await fillTables(attacked, tagId)
  return { ...attacked, outputs, tagId, teamPath }
}

/** The id of the only output of a new state. */
async function outputOf({ attacker, address, token }: Attacked, text: string): Promise<string> {
  const { client } = attacker.owner
  const workspaceId = await createWorkspace(attacker)
  await lock(client, workspaceId)
  const state = stateText(text)
  const pending = await postState(client, workspaceId, state)
  const url = pending.json.data.attributes['hosted-state-upload-url']
  expect((await fetch(url, { method: 'PUT', body: state })).status).toBe(200)
  for (;;) {
    const path = `${address}/api/v2/workspaces/${workspaceId}/current-state-version-outputs`
    const shown = await fetch(path, { headers: { authorization: `Bearer ${token}` } })
    const id = /wsout-\w{16}/.exec(await shown.text())?.[0]
    if (id !== undefined) return id
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Inserts many members in many teams, and a tag on many workspaces. */
async function fillTables({ attacker, openDatabase }: Attacked, tagId: string): Promise<void> {
  const id = numberedIds(1)
  const database = await openDatabase()
  const run = (statement: ReturnType<typeof sql>) => database.write(({ db }) => statement.execute(db))
  const { id: organizationId } = attacker
  await run(
    sql`insert into users (id, username, created_at) ${numbersUpTo(MEMBERS)} select 'user-' || ${id}, 'user-' || n, ${AT} from numbers`,
  )
  await run(
    sql`insert into memberships (id, organization_id, user_id, status, created_at) ${numbersUpTo(MEMBERS)} select 'ou-' || ${id}, ${organizationId}, 'user-' || ${id}, 'active', ${AT} from numbers`,
  )
  await run(
    sql`insert into teams (id, organization_id, name, visibility, users_count, created_at, updated_at) ${numbersUpTo(TEAMS)} select 'team-' || ${id}, ${organizationId}, 'team-' || n, 'organization', ${MEMBERS}, ${AT}, ${AT} from numbers`,
  )
  for (const { id: teamId } of await database.read(({ db }) =>
    db.selectFrom('teams').where('is_owners', '=', 0).select('id').execute(),
  )) {
    await run(
      sql`insert into team_members (team_id, membership_id, user_id, organization_id, is_active) ${numbersUpTo(MEMBERS)} select ${teamId}, 'ou-' || ${id}, 'user-' || ${id}, ${organizationId}, 1 from numbers`,
    )
  }
  const { default_project_id: projectId } = await database.read(({ db }) =>
    db.selectFrom('organizations').selectAll().executeTakeFirstOrThrow(),
  )
  await run(
    sql`insert into workspaces (id, organization_id, project_id, name, terraform_version, settings, created_at, updated_at) ${numbersUpTo(TAGGED)} select 'ws-' || ${id}, ${organizationId}, ${projectId}, 'tagged-' || n, '1.10.0', '{}', ${AT}, ${AT} from numbers`,
  )
  await run(
    sql`insert into workspace_tags (workspace_id, tag_id) ${numbersUpTo(TAGGED)} select 'ws-' || ${id}, ${tagId} from numbers`,
  )
  await run(
    sql`update organizations set version = version + 1, visible_teams_count = ${TEAMS}, teams_count = ${TEAMS + 1}`,
  )
  // These rows are still in SQLite's log. Copying them into the file is not the server's work: some commits do it here.
  for (let commit = 0; commit < 32; commit++) await run(sql`update organizations set version = version + 1`)
  await database.close()
}

describe.each(engines)('beside attacks with answers on %s', (engine) => {
  test(
    'everybody else is served, and memory is bounded',
    async () => probeAttacks(await startWorld(engine), attacks, () => isLong),
    TIMEOUT_MS,
  )
})
