import { request, type ClientRequest } from 'node:http'
import { sql } from 'kysely'
import pino from 'pino'
import { beforeAll, expect, test, vi } from 'vitest'
import type { Database, Transaction } from '../src/database/database.ts'
import {
  deleteForgotten,
  findChunk,
  insertChunks,
  type UploadAddress,
} from '../src/state-content/state-chunk-store.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { discardExpired } from '../src/state-content/state-sweep-store.ts'
import {
  findStateVersion,
  updateStateVersion,
  type StateVersionRow,
} from '../src/state-versions/state-version-store.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const DAY_MS = 86_400_000
const outputs = '{"a": {"value": 1, "type": "number"}}'

/** Whether a PostgreSQL transaction waits for a row that another one has changed. */
async function isAnyoneWaiting(tx: Transaction): Promise<boolean> {
  const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  return (await waiting.execute(tx.db)).rows.length > 0
}

onEachEngine('the sweep of what no state version counts on', (server, engine) => {
  let organization: TestOrganization
  let database: Database
  let sweep: StateSweep
  beforeAll(async () => {
    ;({ database } = server.app.deps)
    organization = await createTestOrganization(server)
    sweep = new StateSweep(database, server.app.deps.config, server.clock, pino({ level: 'silent' }))
  })

  const stored = async (stateVersionId: string) => {
    const [chunks, blocks] = await database.read((tx) =>
      Promise.all([
        tx.db
          .selectFrom('state_chunks')
          .where('state_version_id', '=', stateVersionId)
          .select('number')
          .execute(),
        tx.db
          .selectFrom('output_blocks')
          .where('state_version_id', '=', stateVersionId)
          .select('first_position')
          .execute(),
      ]),
    )
    return { chunks: chunks.length, blocks: blocks.length }
  }
  /** Leaves chunks behind like an interrupted upload. */
  const leave = (upload: UploadAddress, chunks: number) =>
    database.write((tx) =>
      insertChunks(
        tx,
        upload,
        Array.from({ length: chunks }, (_, number) => ({ number, sealed: Uint8Array.of(1) })),
      ),
    )
  const pendingState = async () => {
    const workspaceId = await createWorkspace(organization)
    const { client } = organization.owner
    await lock(client, workspaceId)
    const { json } = await postState(client, workspaceId, stateText(outputs))
    return { workspaceId, id: json.data.id as string, urls: json.data.attributes as Record<string, string> }
  }
  const row = async (id: string) => (await database.read((tx) => findStateVersion(tx, id))) as StateVersionRow

  test('what broke off stays while its URL is good, then goes; the content that counts never does', async () => {
    const { id } = await pendingState()
    await leave({ stateVersionId: id, kind: 'state', uploadId: 'broken' }, 120)
    const { stateVersionId } = await createState(organization, outputs)
    await leave({ stateVersionId, kind: 'state', uploadId: 'broken' }, 1)
    await sweep.sweep()
    expect(await stored(id)).toEqual({ chunks: 120, blocks: 0 })
    expect(await stored(stateVersionId)).toEqual({ chunks: 1, blocks: 1 })
    await server.passTime(DAY_MS + 1_000)
    await sweep.sweep()
    expect((await row(id)).status).toBe('discarded')
    expect(await stored(id)).toEqual({ chunks: 0, blocks: 0 })
    const { client } = organization.owner
    expect((await client.get(`/state-versions/${stateVersionId}/download`)).text).toBe(stateText(outputs))
    expect((await client.get(`/state-versions/${stateVersionId}/outputs`)).json.data).toHaveLength(1)
  })

  test('what `tofu show -json` made of a state may arrive after the state itself, and be swept by at any time', async () => {
    const { id, urls } = await pendingState()
    const json = JSON.stringify({ filler: 'x'.repeat(1024 * 1024) })
    const url = urls['hosted-json-state-upload-url'] as string
    const answered = Promise.withResolvers<number | undefined>()
    const put: ClientRequest = request(
      url,
      { method: 'PUT', headers: { 'content-length': json.length } },
      (answer) => {
        answer.resume()
        answered.resolve(answer.statusCode)
      },
    )
    put.write(json.slice(0, -10))
    await vi.waitFor(async () => expect((await stored(id)).chunks).toBeGreaterThan(0), 30_000)
    const state = await server
      .client()
      .request('PUT', urls['hosted-state-upload-url'] as string, stateText(outputs))
    expect(state.status).toBe(200)
    await sweep.sweep()
    put.end(json.slice(-10))
    expect(await answered.promise).toBe(200)
    await sweep.sweep()
    expect((await organization.owner.client.get(`/state-versions/${id}/json-download`)).text).toBe(json)
  })

  test('of a deleted workspace nothing is left', async () => {
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    expect(await stored(stateVersionId)).toEqual({ chunks: 1, blocks: 1 })
    expect((await organization.owner.client.delete(`/workspaces/${workspaceId}`)).status).toBe(204)
    expect((await organization.owner.client.get(`/state-versions/${stateVersionId}/download`)).status).toBe(
      404,
    )
    await sweep.sweep()
    expect(await stored(stateVersionId)).toEqual({ chunks: 0, blocks: 0 })
  })

  test('an upload is not deleted once it counts, whatever became of the answer', async () => {
    const { stateVersionId } = await createState(organization, outputs)
    const uploadId = (await row(stateVersionId)).upload_id as string
    const upload = { stateVersionId, kind: 'state', uploadId } as const
    await database.write((tx) => deleteForgotten(tx, upload, 10))
    expect(await database.read((tx) => findChunk(tx, upload, 0))).toBeDefined()
    await leave({ ...upload, uploadId: 'another' }, 1)
    await database.write((tx) => deleteForgotten(tx, { ...upload, uploadId: 'another' }, 10))
    expect(await stored(stateVersionId)).toEqual({ chunks: 1, blocks: 1 })
  })

  test('a version that is finalized at the last moment is not given up', async () => {
    const { id } = await pendingState()
    let discarding: Promise<void> | undefined
    await database.write(async (tx) => {
      await updateStateVersion(tx, id, { status: 'finalized' })
      discarding = database.write((other) => discardExpired(other, '2999', 100))
      // On SQLite the other write waits for this whole transaction, so there is no need to wait for it.
      let isWaiting = engine === 'sqlite'
      while (!isWaiting) isWaiting = await database.read(isAnyoneWaiting)
    })
    await discarding
    expect((await row(id)).status).toBe('finalized')
  })
})
