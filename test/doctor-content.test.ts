import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Transaction } from '../src/database/database.ts'
import { sqliteFile } from '../src/database/open.ts'
import { examine, type Finding } from '../src/operation/doctor.ts'
import { numberedIds, numbersUpTo } from './support/numbered-ids.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, type Settings } from './support/purser.ts'
import { Client } from './support/client.ts'
import { base64, lock, postState, stateText } from './support/states.ts'
import {
  body,
  createTestOrganization,
  createWorkspace,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

const SECRET_KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'
const PAGE_BYTES = 4096

/** A state with outputs in two blocks, one output in two parts, and enough bytes for four chunks. */
function largeState(serial: number): string {
  const outputs = Array.from({ length: 300 }, (_, n) => `"o${n}":{"value":${n},"type":"number"}`).join(',')
  const large = `"big":{"value":"${'x'.repeat(300_000)}","type":"string"}`
  const filler = randomBytes(270_000).toString('hex')
  return stateText(`{${large},${outputs}}`, serial).replace(
    '"check_results"',
    `"filler":"${filler}","check_results"`,
  )
}

onEachEngine('doctor --content', (server, engine) => {
  let organization: TestOrganization
  let workspaceId: string
  let versions: string[]
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    workspaceId = await createWorkspace(organization, { name: 'network' })
    const { client } = organization.owner
    await lock(client, workspaceId)
    versions = []
    for (const serial of [1, 2, 3]) {
      const state = largeState(serial)
      const made = await postState(client, workspaceId, state, {
        state: base64(state),
        'json-state': base64('{"format_version":"1.0"}'),
      })
      expect(made.status, made.text).toBe(201)
      versions.push(made.json.data.id)
    }
    // Other versions must be reported as good, too: soft-deleted, finally deleted, pending, without outputs.
    const deleted = await createWorkspace(organization)
    await lock(client, deleted)
    for (const serial of [1, 2, 3]) {
      const state = stateText('{}', serial)
      expect((await postState(client, deleted, state, { state: base64(state) })).status).toBe(201)
    }
    const rows = await all(sql`select id from state_versions where workspace_id = ${deleted} order by number`)
    for (const row of rows.slice(0, 2)) await act(row.id as string, 'soft_delete')
    await act(rows[0]?.id as string, 'permanently_delete')
    await postState(client, deleted, stateText('{}', 4), {
      'json-state-outputs': base64('{"a":{"value":1}}'),
    })
  })

  const act = async (id: string, action: string) => {
    const done = await organization.owner.client.post(`/state-versions/${id}/actions/${action}_backing_data`)
    expect(done.status, done.text).toBe(200)
  }
  const all = async (query: ReturnType<typeof sql>) =>
    (await server.app.deps.database.read((tx) => query.execute(tx.db))).rows as Record<string, unknown>[]
  const change = (query: ReturnType<typeof sql>) =>
    server.app.deps.database.write((tx) => query.execute(tx.db))
  const examined = async () => {
    const url = server.databaseUrl === undefined ? {} : { databaseUrl: server.databaseUrl }
    const config = readConfig({ data: server.folder, secretKey: SECRET_KEY, ...url }, {})
    const shown: string[] = []
    const findings = await examine(config, {}, server.clock, (done, total) => shown.push(`${done}/${total}`))
    expect(shown.at(-1)).toMatch(/^(\d+)\/\1$/)
    return findings
  }
  const problems = (findings: Finding[]) =>
    findings
      .filter(({ check, result }) => check.startsWith('content') && result === 'problem')
      .map(({ detail }) => detail)

  test('finds all of it whole, and the file', async () => {
    const findings = await examined()
    expect(problems(findings)).toEqual([])
    expect(findings.find(({ check }) => check === 'content')).toMatchObject({
      result: 'good',
      detail: expect.stringMatching(/^7 state versions, \d+\.\d MiB: /),
    })
    const file = findings.find(({ check }) => check === 'database file')
    if (engine === 'sqlite') expect(file).toMatchObject({ result: 'good' })
    else expect(file).toBeUndefined()
  })

  // PostgreSQL never allows a row without its parent.
  if (engine === 'sqlite') {
    test('finds rows whose parents are lost, and a lost fingerprint', async () => {
      const file = new DatabaseSync(sqliteFile(server.app.deps.config.data), {
        enableForeignKeyConstraints: false,
        // The server may be writing.
        timeout: 10_000,
      })
      const meta = file.prepare('select key, value from meta').all()
      file.exec(
        `begin; delete from meta; update workspaces set id = 'ws-lost' where id = '${workspaceId}'; commit`,
      )
      const findings = await examined()
      expect(findings.find(({ check }) => check === 'database file')).toMatchObject({
        result: 'problem',
        detail: expect.stringContaining('3 rows of state_versions name lost rows of workspaces'),
      })
      expect(findings).toContainEqual({
        check: 'secret key',
        result: 'problem',
        detail: expect.stringContaining('no fingerprint'),
      })
      file.exec(`update workspaces set id = '${workspaceId}' where id = 'ws-lost'`)
      for (const { key, value } of meta) {
        file.prepare('insert into meta (key, value) values (?, ?)').run(key as string, value as string)
      }
      file.close()
    })
  }

  const chunk = (id: string, kind: string, number: number) =>
    sql`state_chunks where state_version_id = ${id} and kind = ${kind} and number = ${number}`
  const sealedAt = async (id: string, kind: string, number: number) =>
    Uint8Array.from((await all(sql`select sealed from ${chunk(id, kind, number)}`))[0]?.sealed as Uint8Array)
  const put = (id: string, kind: string, number: number, sealed: Uint8Array) =>
    change(
      sql`update state_chunks set sealed = ${sealed} where state_version_id = ${id} and kind = ${kind} and number = ${number}`,
    )
  const deleted = async (table: string, where: ReturnType<typeof sql>) => {
    const rows = await all(sql`select * from ${sql.table(table)} where ${where}`)
    await change(sql`delete from ${sql.table(table)} where ${where}`)
    return async () => {
      for (const row of rows) {
        await server.app.deps.database.write((tx: Transaction) =>
          tx.db
            .insertInto(table as 'meta')
            .values(row as never)
            .execute(),
        )
      }
    }
  }

  type Damage = (id: string) => Promise<() => Promise<unknown>>
  const flip =
    (kind: string, number: number): Damage =>
    async (id) => {
      const sealed = await sealedAt(id, kind, number)
      const flipped = Uint8Array.from(sealed)
      flipped[20] = (flipped[20] as number) ^ 4
      await put(id, kind, number, flipped)
      return () => put(id, kind, number, sealed)
    }
  const damages: [string, Damage, RegExp][] = [
    ['a flipped bit of a chunk', flip('state', 1), /the state cannot be read .*push the state again/],
    ['a flipped bit of the JSON state', flip('json-state', 0), /the JSON state cannot be read/],
    [
      'a lost chunk',
      (id) => deleted('state_chunks', sql`state_version_id = ${id} and kind = 'state' and number = 2`),
      /the state cannot be read \(The last chunk is missing\)/,
    ],
    [
      'two exchanged chunks',
      async (id) => {
        const [one, two] = [await sealedAt(id, 'state', 0), await sealedAt(id, 'state', 1)]
        const set = async (first: Uint8Array, second: Uint8Array) => {
          await put(id, 'state', 0, first)
          await put(id, 'state', 1, second)
        }
        await set(two, one)
        return () => set(one, two)
      },
      /the state cannot be read/,
    ],
    [
      'a lost block of outputs',
      (id) => deleted('output_blocks', sql`state_version_id = ${id} and first_position = 0 and part = 0`),
      /the outputs cannot be read \(Output 0 is missing\); the state is whole: roll back/,
    ],
    [
      'a lost part of a large output',
      (id) => deleted('output_blocks', sql`state_version_id = ${id} and part = 2`),
      /the outputs cannot be read \(Part 2 of output 0 is missing\)/,
    ],
    [
      'a block of outputs too many',
      async (id) => {
        await change(
          sql`insert into output_blocks (state_version_id, first_position, sealed) select state_version_id, 400, sealed from output_blocks where state_version_id = ${id} and first_position = 0 and part = 0`,
        )
        return () =>
          change(sql`delete from output_blocks where state_version_id = ${id} and first_position = 400`)
      },
      /there are 5 pieces of outputs and not 4/,
    ],
    [
      'another hash in the row',
      async (id) => {
        const [row] = await all(sql`select md5 from state_versions where id = ${id}`)
        await change(sql`update state_versions set md5 = ${'0'.repeat(32)} where id = ${id}`)
        return () => change(sql`update state_versions set md5 = ${row?.md5} where id = ${id}`)
      },
      /Their MD5 hash is [0-9a-f]{32} and not 0{32}/,
    ],
  ]

  test.each(damages)('names the version with %s', async (_, damage, expected) => {
    const id = versions[2] as string
    const repair = await damage(id)
    const found = problems(await examined())
    expect(found).toEqual([expect.stringMatching(expected)])
    expect(found[0]).toContain(`${id}, the current state of the workspace ${organization.name}/network: `)
    await repair()
    expect(problems(await examined())).toEqual([])
  })

  test('without --content, some states are read, and the last line says what is left', async () => {
    const cheaply = async () => {
      const url = server.databaseUrl === undefined ? {} : { databaseUrl: server.databaseUrl }
      const config = readConfig({ data: server.folder, secretKey: SECRET_KEY, ...url }, {})
      return examine(config, {}, server.clock)
    }
    const repair = await flip('state', 1)(versions[2] as string)
    expect(problems(await cheaply())).toEqual([expect.stringContaining('the state cannot be read')])
    await repair()
    const whole = await cheaply()
    expect(problems(whole)).toEqual([])
    const last = whole.at(-1)
    if (engine === 'sqlite') expect(last).toMatchObject({ check: 'not read', result: 'note' })
    else
      expect(last).toMatchObject({
        check: 'content',
        detail: '7 of 7 state versions were read and are intact',
      })
    // Many more versions than are read: their rows are enough here.
    const many = numbersUpTo(30)
    await change(sql`
      insert into state_versions (id, workspace_id, number, organization_id, output_key, serial, md5, status, wrapped_key, created_at)
      ${many} select 'sv-' || ${numberedIds(1)}, workspace_id, -n, organization_id, 'many-' || n, -n, md5, 'discarded', wrapped_key, created_at
      from numbers cross join state_versions where id = ${versions[0]}`)
    const some = await cheaply()
    await change(sql`delete from state_versions where output_key like 'many-%'`)
    expect(some.find(({ check }) => check === 'content')?.detail).toMatch(/^20 of 37 state versions /)
    expect(some.at(-1)?.detail).toContain('17 of 37 state versions: purser doctor --content reads them')
  })

  test('names every damaged version, also one that was deleted softly', async () => {
    const repairs = [
      await flip('state', 0)(versions[0] as string),
      await flip('state', 2)(versions[1] as string),
    ]
    await act(versions[0] as string, 'soft_delete')
    const found = problems(await examined())
    const named = new Set(found.map((line) => line.slice(0, line.indexOf(','))))
    expect([found.length, named]).toEqual([2, new Set(versions.slice(0, 2))])
    expect(found.join()).toContain('serial 1 of the workspace')
    await act(versions[0] as string, 'restore')
    for (const repair of repairs) await repair()
  })

  test('names a workspace whose current state version is lost, and counts what belongs to none', async () => {
    const repair = await deleted('state_versions', sql`id = ${versions[2]}`)
    const findings = await examined()
    expect(problems(findings)).toEqual([
      expect.stringContaining(
        `the current state version of the workspace ${organization.name}/network is lost`,
      ),
    ])
    expect(findings.find(({ check, result }) => check === 'content' && result === 'note')?.detail).toMatch(
      /^5 chunks and 4 blocks of outputs belong to no state version/,
    )
    await repair()
  })
})

describe('doctor --content', () => {
  test('finds a zeroed page of the SQLite file, and ends with 1', async () => {
    const settings: Settings = { ...(await settingsFor('sqlite')), PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
    const purser = new Purser(['serve'], settings)
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    const name = uniqueName('organization')
    await client.post('/organizations', body('organizations', { name, email: 'o@example.com' }))
    const made = await client.post(
      `/organizations/${name}/workspaces`,
      body('workspaces', { name: 'network' }),
    )
    const workspaceId = made.json.data.id as string
    await lock(client, workspaceId)
    const state = largeState(1)
    const stored = await postState(client, workspaceId, state, { state: base64(state) })
    expect(stored.status, stored.text).toBe(201)
    const well = await run(['doctor', '--content'], settings)
    expect([well.code, well.stdout], well.stdout).toEqual([
      0,
      expect.stringMatching(/^good +content +1 state/m),
    ])
    expect(well.stderr).toBe('state versions: 1\n')
    const cheap = await run(['doctor'], settings)
    expect(cheap.code).toBe(0)
    expect(cheap.stdout).toMatch(/^good +content +1 of 1 state versions were read and are intact$/m)
    expect(cheap.stdout.trimEnd().split('\n').at(-1)).toMatch(
      /^note +not read +the pages of the file with states and outputs: purser doctor --content reads them$/,
    )
    expect(await purser.stop()).toBe(0)

    const file = join(settings.PURSER_DATA as string, 'purser.sqlite')
    // A page full of random bytes belongs to a chunk.
    const bytes = readFileSync(file)
    const pages = Array.from({ length: bytes.length / PAGE_BYTES }, (_, page) => page)
    const zeroes = (page: number) =>
      bytes.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).filter((byte) => byte === 0).length
    const page = pages.find((one) => one > 20 && zeroes(one) < 60 && zeroes(one + 1) < 60) as number
    const handle = openSync(file, 'r+')
    writeSync(handle, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, page * PAGE_BYTES)
    closeSync(handle)
    const { code, stdout } = await run(['doctor', '--content'], settings)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^problem +database file +the file is damaged: .*restore a backup/m)
    expect(stdout).toMatch(
      new RegExp(
        `^problem +content +${stored.json.data.id}, the current state of the workspace ${name}/network`,
        'm',
      ),
    )
    const plain = await run(['doctor'], settings)
    expect(plain.code).toBe(1)
    expect(plain.stdout).toMatch(/^problem +content +sv-/m)
    expect(plain.stdout).toMatch(/^good +database file +every page without content is in its place$/m)

    const database = new DatabaseSync(file)
    const leaf = database
      .prepare(`select pageno from dbstat where name = 'teams' and pagetype = 'leaf' limit 1`)
      .get() as { pageno: number }
    database.close()
    const again = openSync(file, 'r+')
    writeSync(again, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, (leaf.pageno - 1) * PAGE_BYTES)
    closeSync(again)
    const damaged = await run(['doctor'], settings)
    expect(damaged.code).toBe(1)
    expect(damaged.stdout).toMatch(/^problem +database file +the file is damaged: .*restore a backup/m)
  }, 120_000)
})
