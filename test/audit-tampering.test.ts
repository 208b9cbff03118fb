import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as fc from 'fast-check'
import { sql, type RawBuilder } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { chainAuditEvents } from '../src/audit/audit-chains.ts'
import { insertAuditEvents, unchained } from '../src/audit/audit-store.ts'
import { verifyAuditTrail } from '../src/audit/audit-verify.ts'
import type { Transaction } from '../src/database/database.ts'
import { openDatabase, sqliteFile } from '../src/database/open.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { longTimeout, runs } from './support/runs.ts'
import { verdictAfter } from './support/undone-tampering.ts'
import { createTeam, createTestOrganization } from './support/world.ts'

const detailAfter = async (...tampering: Parameters<typeof verdictAfter>) =>
  (await verdictAfter(...tampering)).problem?.detail

const kinds = {
  audit_events: {
    number: 'integer',
    at: 'text',
    request_id: 'text',
    actor_kind: 'text',
    actor_id: 'text',
    actor_name: 'text',
    token_id: 'text',
    action: 'text',
    organization_id: 'text',
    resource_type: 'text',
    resource_id: 'text',
    details: 'text',
    position: 'integer',
    mac: 'bytes',
  },
  audit_chains: {
    organization_id: 'text',
    position: 'integer',
    at: 'text',
    link: 'bytes',
    start_position: 'integer',
    start: 'bytes',
    oldest_at: 'text',
  },
} as const

type Cell = { table: keyof typeof kinds; column: string; kind: 'integer' | 'text' | 'bytes' }

const cells: Cell[] = Object.entries(kinds).flatMap(([table, columns]) =>
  Object.entries(columns).map(([column, kind]) => ({ table: table as keyof typeof kinds, column, kind })),
)

const sample = runs(400, 20_000)

const key = { audit_events: 'number', audit_chains: 'organization_id' } as const

onEachEngine('whoever writes into the audit trail', (server, engine) => {
  /** The keys of the rows of each table. */
  let rows: { audit_events: unknown[]; audit_chains: unknown[] }
  beforeAll(async () => {
    const organization = await createTestOrganization(server)
    for (let count = 0; count < 5; count++) await createTeam(organization)
    await createTestOrganization(server)
    const { database, auditKey } = server.app.deps
    await database.write(async (tx) =>
      // A text of one digit, and a replacement character, which a careless reader cannot tell from invalid bytes.
      insertAuditEvents(tx, { at: '', requestId: '5', address: null, actor: null, key: auditKey }, [
        {
          action: 'some.act',
          organizationId: organization.id,
          resourceType: 'things',
          resourceId: '\ufffd',
          details: { name: '\ufffd\u0000' },
        },
      ]),
    )
    rows = await database.read(async (tx) => ({
      audit_events: (await tx.db.selectFrom('audit_events').select('number').execute()).map(
        ({ number }) => number,
      ),
      audit_chains: (await tx.db.selectFrom('audit_chains').select('organization_id').execute()).map(
        (row) => row.organization_id,
      ),
    }))
  })

  test('all columns are tried', async () => {
    await server.app.deps.database.read(async (tx) => {
      for (const table of ['audit_events', 'audit_chains'] as const) {
        const row = await tx.db.selectFrom(table).selectAll().executeTakeFirstOrThrow()
        expect(Object.keys(row).toSorted()).toEqual(Object.keys(kinds[table]).toSorted())
      }
    })
  })

  const bytesOf = async (tx: Transaction, { table, column, kind }: Cell, row: unknown) => {
    const name = sql.ref(column)
    const whole =
      engine === 'sqlite'
        ? sql`cast(${name} as blob)`
        : kind === 'bytes'
          ? name
          : sql`convert_to(${name}::text, 'UTF8')`
    const found = await sql<{ bytes: Uint8Array | null }>`
      select ${whole} as bytes from ${sql.table(table)} where ${sql.ref(key[table])} = ${row}`.execute(tx.db)
    return found.rows[0]?.bytes ?? null
  }
  const valueOf = (bytes: Buffer, kind: Cell['kind']): RawBuilder<unknown> => {
    if (kind === 'bytes') return sql`${bytes}`
    // As a number if possible. SQLite stores anything else as text.
    if (engine === 'sqlite') return sql`cast(${bytes} as text)`
    return kind === 'text' ? sql`convert_from(${bytes}, 'UTF8')` : sql`convert_from(${bytes}, 'UTF8')::bigint`
  }

  test(
    'is found out by any one byte, of any column of any row',
    async () => {
      const byte = fc.record({
        cell: fc.constantFrom(...cells),
        row: fc.nat(),
        place: fc.nat(),
        flipped: fc.integer({ min: 1, max: 255 }),
      })
      let found = 0
      await fc.assert(
        fc.asyncProperty(byte, async ({ cell, row, place, flipped }) => {
          const keys = rows[cell.table]
          const chosen = keys[row % keys.length]
          let isWritten = false
          const detail = await detailAfter(server, async (tx) => {
            const before = await bytesOf(tx, cell, chosen)
            const changed = Buffer.from(before === null || before.length === 0 ? [0] : before)
            changed[place % changed.length] = (changed[place % changed.length] as number) ^ flipped
            await sql`
            update ${sql.table(cell.table)} set ${sql.ref(cell.column)} = ${valueOf(changed, cell.kind)}
            where ${sql.ref(key[cell.table])} = ${chosen}`.execute(tx.db)
            // For a number, `7` and `07` are the same value, so nothing has changed.
            const after = await bytesOf(tx, cell, chosen)
            isWritten = after === null || before === null || !Buffer.from(after).equals(before)
          }).catch((error: unknown) => {
            // Refused by the engine, so nothing has changed: a duplicate key, or bytes that are no text or number.
            const { code, errcode } = error as { code?: string; errcode?: number }
            if (errcode === undefined && !/^(22|23)/.test(code ?? '')) throw error
            return undefined
          })
          if (!isWritten) return
          expect(detail).toBeDefined()
          found += 1
        }),
        sample,
      )
      expect(found).toBeGreaterThan(sample.numRuns / 4)
    },
    longTimeout,
  )

  test('is found out by a value of another type that reads alike', async () => {
    if (engine === 'postgres') return
    const set = (assignment: RawBuilder<unknown>, table = 'audit_events') =>
      detailAfter(server, (tx) => sql`update ${sql.table(table)} set ${assignment}`.execute(tx.db))
    expect(await set(sql`number = number`)).toBeUndefined()
    expect(
      await set(sql`request_id = case when request_id = '5' then x'05' else request_id end`),
    ).toBeDefined()
    expect(
      await set(
        sql`resource_id = case when resource_id = ${'\ufffd'} then cast(x'f09080' as text) else resource_id end`,
      ),
    ).toBeDefined()
    expect(await set(sql`action = action || char(0)`)).toBeDefined()
    for (const column of Object.keys(kinds.audit_chains)) {
      const name = sql.ref(column)
      expect(await set(sql`${name} = ${name} || 'x'`, 'audit_chains'), column).toBeDefined()
    }
    for (const column of ['organization_id', 'position', 'at', 'start_position', 'oldest_at']) {
      const name = sql.ref(column)
      expect(await set(sql`${name} = cast(${name} as blob)`, 'audit_chains'), column).toBeDefined()
    }
  })

  test('is found out by an event under the name of the chain of the whole site', async () => {
    const detail = await detailAfter(server, async (tx) => {
      const { number: _number, ...row } = await tx.db
        .selectFrom('audit_events')
        .where('organization_id', 'is', null)
        .where('position', '=', 1)
        .selectAll()
        .executeTakeFirstOrThrow()
      await tx.db
        .insertInto('audit_events')
        .values({ ...row, organization_id: '', action: 'put.in' })
        .execute()
    })
    expect(detail).toContain('put.in) was inserted or moved: it belongs to no trail')
  })

  test('is found out when nothing is left, though the server went on', async () => {
    const { database, auditKey } = server.app.deps
    server.clock.advance(3_600_000)
    const at = server.clock.now().toISOString()
    const removeAll = async (tx: Transaction) => {
      await tx.db.deleteFrom('audit_events').execute()
      await tx.db.deleteFrom('audit_chains').execute()
    }
    const goOn = (tx: Transaction) =>
      chainAuditEvents(tx, auditKey, [
        unchained(
          { at, requestId: null, address: null, actor: null },
          { action: 'user.create', resourceType: 'users', resourceId: 'user-1' },
        ),
      ])
    const detail = await detailAfter(server, async (tx) => {
      await removeAll(tx)
      await goOn(tx)
    })
    expect(detail).toContain('begun anew')
    expect(await database.read((tx) => verifyAuditTrail(tx, auditKey))).toMatchObject({ chains: 3 })
  })

  test('is detected with kept results after a trail was replaced by an older copy', async () => {
    const { database, auditKey } = server.app.deps
    const all = (tx: Transaction) => tx.db.selectFrom('audit_chains').selectAll().execute()
    const before = await database.read(all)
    const older = await createTestOrganization(server)
    const afterOne = await database.read(all)
    await createTeam(older)
    const { ends } = await database.read((tx) => verifyAuditTrail(tx, auditKey))
    const seen = { ends, keptSince: '2020' }
    expect((await database.read((tx) => verifyAuditTrail(tx, auditKey, seen))).problem).toBeUndefined()
    const putBack = async (tx: Transaction, chains: typeof before) => {
      await tx.db.deleteFrom('audit_chains').execute()
      await tx.db.insertInto('audit_chains').values(chains).execute()
      const kept = chains.find((chain) => chain.organization_id === older.id)?.position ?? 0
      await tx.db
        .deleteFrom('audit_events')
        .where('organization_id', '=', older.id)
        .where('position', '>', kept)
        .execute()
      const site = chains.find((chain) => chain.organization_id === '')?.position ?? 0
      await tx.db
        .deleteFrom('audit_events')
        .where('organization_id', 'is', null)
        .where('position', '>', site)
        .execute()
    }
    const goOn = (tx: Transaction) =>
      chainAuditEvents(tx, auditKey, [
        unchained(
          { at: server.clock.now().toISOString(), requestId: null, address: null, actor: null },
          { action: 'x.y', organizationId: older.id, resourceType: 'things', resourceId: 'thing' },
        ),
      ])
    // Taken alone, such a trail is intact …
    expect(await detailAfter(server, (tx) => putBack(tx, afterOne))).toBeUndefined()
    // … but compared with the ends seen before, an event is missing or different, or the whole trail is missing.
    expect(await detailAfter(server, (tx) => putBack(tx, afterOne), seen)).toContain('event 2 is missing')
    expect(
      await detailAfter(
        server,
        async (tx) => {
          await putBack(tx, afterOne)
          await goOn(tx)
        },
        seen,
      ),
    ).toContain('is not the event of the earlier output')
    expect(
      await detailAfter(server, (tx) => putBack(tx, before), {
        ...seen,
        ends: ends.filter((end) => end.organization === older.id),
      }),
    ).toContain(`the trail of ${older.id} is missing, and the earlier output has it`)
    // Events that PURSER_AUDIT_DAYS has deleted may be missing.
    expect(
      await detailAfter(server, (tx) => putBack(tx, before), {
        keptSince: '2100',
        ends: ends.filter((end) => end.organization === older.id),
      }),
    ).toBeUndefined()
  })

  test('is found out by a change of the file that SQL could not make', async () => {
    if (engine === 'postgres') return
    const { database, auditKey } = server.app.deps
    const { config } = server.app.deps
    const copy = join(server.folder, 'copy')
    mkdirSync(copy)
    const file = sqliteFile(copy)
    new DatabaseSync(sqliteFile(config.data), { readOnly: true }).exec(`vacuum into '${file}'`)
    const bytes = readFileSync(file)
    const [{ request_id: unique }] = (await database.read((tx) =>
      tx.db.selectFrom('audit_events').where('action', '=', 'team.create').select('request_id').execute(),
    )) as [{ request_id: string }]
    const places: number[] = []
    for (let at = bytes.indexOf(unique); at !== -1; at = bytes.indexOf(unique, at + 1)) places.push(at)
    const found: string[] = []
    for (const place of [undefined, ...places]) {
      const altered = Buffer.from(bytes)
      if (place !== undefined) altered[place] = (altered[place] as number) ^ 1
      writeFileSync(file, altered)
      const opened = await openDatabase({ ...config, data: copy })
      const { problem } = await opened.database.read((tx) => verifyAuditTrail(tx, auditKey))
      await opened.database.close()
      if (place === undefined) expect(problem).toBeUndefined()
      else if (problem !== undefined) found.push(problem.detail)
    }
    // Once in the row and once in an index. A page may also have bytes of an entry that moved to another page.
    expect(found).toHaveLength(2)
    for (const detail of found) {
      expect(detail).toMatch(/differs from what was written|the database file is damaged/)
    }
  })
})
