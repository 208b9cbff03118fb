import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Transaction } from '../src/database/database.ts'
import { sharedTime } from '../src/database/shared-clock.ts'
import { deleteSomeChunks } from '../src/state-content/state-chunk-store.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { isLeft } from '../src/state-content/state-sweep-store.ts'
import type { Response } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { engines } from './support/engines.ts'
import { startNode, startServer, type TestServer } from './support/server.ts'
import { lock, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const TWO_MINUTES_MS = 120_000
const NEVER = '1970'

/** Whether a PostgreSQL transaction waits for a row that another one has changed. */
async function isAnyoneWaiting(tx: Transaction): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  return (await waiting.execute(tx.db)).rows.length > 0
}

// On SQLite the nodes are two workers of one server.
describe.each(engines)('a node that loses its lease, of two on one %s database', (engine) => {
  let first: TestServer
  let second: TestServer
  let organization: TestOrganization
  let sweep: StateSweep
  beforeAll(async () => {
    first = await startServer(engine)
    second = await startNode(first)
    organization = await createTestOrganization(first)
    const { database, config } = second.app.deps
    sweep = new StateSweep(database, config, second.clock, pino({ level: 'silent' }))
  })
  afterEach(() => {
    vi.restoreAllMocks()
    second.clock.advance(first.clock.now().getTime() - second.clock.now().getTime())
  })
  afterAll(async () => {
    await second.stop()
    await first.stop()
  })

  const stateOf = (serial: number, filler: string) =>
    stateText('{}', serial).replace('"check_results"', `"filler":"${filler}","check_results"`)
  const pendingState = async (workspaceId: string, state: string) => {
    const { client } = organization.owner
    const made = await postState(client, workspaceId, state)
    expect(made.status, made.text).toBe(201)
    return { id: made.json.data.id as string, urls: made.json.data.attributes as Record<string, string> }
  }
  const putTo = (url: string | undefined, state: string) =>
    first.client().request('PUT', url as string, state)
  /** Creates a locked workspace whose state has ten chunks. */
  const largeState = async () => {
    const workspaceId = await createWorkspace(organization)
    await lock(organization.owner.client, workspaceId)
    const filler = randomBytes(5 * 256 * 1024).toString('hex')
    const state = stateOf(1, filler)
    const { id, urls } = await pendingState(workspaceId, state)
    expect((await putTo(urls['hosted-state-upload-url'], state)).status).toBe(200)
    return { workspaceId, id, rolledBack: stateOf(2, filler) }
  }
  const rollBack = (workspaceId: string, id: string): Promise<Response> => {
    const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id } } }
    return organization.owner.client.patch(
      `/workspaces/${workspaceId}/state-versions`,
      body('state-versions', {}, relationships),
    )
  }
  const currentOf = async (workspaceId: string) => {
    const { json } = await organization.owner.client.get(`/workspaces/${workspaceId}/current-state-version`)
    return json.data.id as string
  }
  const download = async (id: string) =>
    (await organization.owner.client.get(`/state-versions/${id}/download`)).text
  const rolledBackVersion = (workspaceId: string) =>
    first.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('state_versions')
        .where('workspace_id', '=', workspaceId)
        .where('rollback_of_id', 'is not', null)
        .select(['id', 'lease_until', 'status'])
        .executeTakeFirstOrThrow(),
    )
  const chunksOf = (id: string) =>
    first.app.deps.database.read(async (tx) => {
      const query = tx.db.selectFrom('state_chunks').where('state_version_id', '=', id)
      return (await query.select(['kind', 'upload_id', 'number']).execute()).length
    })

  /** Calls `work` while the first node stands still: in the middle of its writes, or after them and before the end. */
  const whileStopped = (where: 'in the middle' | 'at the end', work: () => Promise<void>) => {
    const { states } = first.app.deps
    if (where === 'at the end') {
      const receive = states.receive.bind(states)
      vi.spyOn(states, 'receive').mockImplementationOnce(async (...args) => {
        const result = await receive(...args)
        await work()
        return result
      })
      return
    }
    const content = states.content.bind(states)
    const read = vi.spyOn(states, 'content')
    // The source is read twice: first to check it, then to write it again.
    read.mockImplementationOnce(content).mockImplementationOnce(async function* (...args) {
      let pieces = 0
      for await (const bytes of content(...args)) {
        yield bytes
        pieces += 1
        if (pieces === 7) await work()
      }
    })
  }

  test.each(['in the middle', 'at the end'] as const)(
    'acknowledges nothing when it was stopped %s of a rollback and the other one swept',
    async (where) => {
      const { workspaceId, id } = await largeState()
      whileStopped(where, async () => {
        await vi.waitFor(async () =>
          expect(await chunksOf((await rolledBackVersion(workspaceId)).id)).toBeGreaterThan(0),
        )
        await first.passTime(TWO_MINUTES_MS)
        second.clock.advance(TWO_MINUTES_MS)
        await sweep.sweep()
      })
      const answer = await rollBack(workspaceId, id)
      expect(answer.status, answer.text).toBe(409)
      expect(await currentOf(workspaceId)).toBe(id)
      const version = await rolledBackVersion(workspaceId)
      await vi.waitFor(async () => {
        await sweep.sweep()
        expect(await chunksOf(version.id)).toBe(0)
      })
      expect((await rolledBackVersion(workspaceId)).status).toBe('discarded')
    },
  )

  test.each(['in the middle', 'at the end'] as const)(
    'keeps its lease when the clock of the other one, which sweeps %s, is two minutes ahead',
    async (where) => {
      const { workspaceId, id, rolledBack } = await largeState()
      second.clock.advance(TWO_MINUTES_MS)
      whileStopped(where, () => sweep.sweep())
      const answer = await rollBack(workspaceId, id)
      // Processes on one SQLite file share one clock. If it jumps, the rollback is refused.
      expect(answer.status, answer.text).toBe(engine === 'postgres' ? 201 : 409)
      if (answer.status === 201)
        expect(differenceOf(await download(answer.json.data.id), rolledBack)).toBeUndefined()
      else expect(await currentOf(workspaceId)).toBe(id)
    },
  )

  test('does not lose it to its own clock, two minutes behind', async () => {
    const { workspaceId, id, rolledBack } = await largeState()
    whileStopped('in the middle', async () => {
      first.clock.advance(-TWO_MINUTES_MS)
      await sweep.sweep()
    })
    const answer = await rollBack(workspaceId, id)
    first.clock.advance(TWO_MINUTES_MS)
    expect(answer.status, answer.text).toBe(201)
    expect(differenceOf(await download(answer.json.data.id), rolledBack)).toBeUndefined()
  })

  test('and the sweep wait for each other: who comes second sees what the first one did', async () => {
    const { database } = first.app.deps
    for (const isSweepFirst of [true, false]) {
      const { workspaceId, id } = await largeState()
      const [ready, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      whileStopped('at the end', async () => {
        await database.write((tx) =>
          tx.db
            .updateTable('state_versions')
            .set({ lease_until: NEVER })
            .where('workspace_id', '=', workspaceId)
            .where('status', '=', 'discarded')
            .execute(),
        )
        ready.resolve()
        await over.promise
      })
      const rolling = rollBack(workspaceId, id)
      await ready.promise
      const version = await rolledBackVersion(workspaceId)
      const [upload] = await database.read((tx) =>
        tx.db
          .selectFrom('state_chunks')
          .where('state_version_id', '=', version.id)
          .select('upload_id')
          .limit(1)
          .execute(),
      )
      const address = {
        stateVersionId: version.id,
        kind: 'state',
        uploadId: upload?.upload_id as string,
      } as const
      const sweepSome = async (tx: Transaction) => {
        const now = (await sharedTime(tx, second.clock)).toISOString()
        return (await isLeft(tx, address, now, NEVER)) && deleteSomeChunks(tx, address, 5)
      }
      const renew = (tx: Transaction) =>
        tx.db
          .updateTable('state_versions')
          .set({ lease_until: '2999' })
          .where('id', '=', version.id)
          .where('lease_until', '=', NEVER)
          .executeTakeFirstOrThrow()
      let other: Promise<unknown> | undefined
      const one = await second.app.deps.database.write(async (tx) => {
        const done = isSweepFirst ? await sweepSome(tx) : Number((await renew(tx)).numUpdatedRows)
        other = isSweepFirst ? database.write(renew) : database.write(sweepSome)
        // On SQLite the other write waits for this whole transaction, so there is no need to wait for it.
        let isWaiting = engine === 'sqlite'
        while (!isWaiting) isWaiting = await database.read(isAnyoneWaiting)
        return done
      })
      const two = await other
      if (isSweepFirst) expect([one, two]).toMatchObject([true, { numUpdatedRows: 0n }])
      else expect([one, two]).toEqual([1, false])
      over.resolve()
      expect((await rolling).status).toBe(409)
    }
  })

  test('nothing is acknowledged of which a chunk is missing, however it was lost', async () => {
    const { states, database } = first.app.deps
    const receive = states.receive.bind(states)
    const loseOne = () =>
      vi.spyOn(states, 'receive').mockImplementationOnce(async (...args) => {
        const result = await receive(...args)
        await database.write((tx) =>
          tx.db
            .deleteFrom('state_chunks')
            .where('upload_id', '=', args[0].uploadId)
            .where('number', '=', result.chunks - 1)
            .execute(),
        )
        return result
      })
    const workspaceId = await createWorkspace(organization)
    await lock(organization.owner.client, workspaceId)
    const state = stateOf(1, 'x'.repeat(600_000))
    const { id, urls } = await pendingState(workspaceId, state)
    for (const name of ['hosted-json-state-upload-url', 'hosted-state-upload-url']) {
      loseOne()
      const refused = await putTo(urls[name], state)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      expect((await putTo(urls[name], state)).status).toBe(200)
    }
    expect(await download(id)).toBe(state)
    loseOne()
    expect((await rollBack(workspaceId, id)).status).toBe(503)
    expect(await currentOf(workspaceId)).toBe(id)
    expect((await rollBack(workspaceId, id)).status).toBe(409)
    await first.passTime(61_000)
    expect((await rollBack(workspaceId, id)).status).toBe(201)
  })
})
