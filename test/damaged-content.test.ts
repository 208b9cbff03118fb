import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { sql } from 'kysely'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Transaction } from '../src/database/database.ts'
import { sealPiece, unwrapDataKey } from '../src/state-versions/state-crypto.ts'
import { findStateVersion, type StateVersionRow } from '../src/state-versions/state-version-store.ts'
import type { Response } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState, lock, md5Of, postState, stateText } from './support/states.ts'
import { body, createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const CHUNK_BYTES = 256 * 1024

/** This many outputs, in byte order of their names. */
const outputsOf = (count: number) =>
  `{${Array.from({ length: count }, (_, n) => `"o${String(n).padStart(5, '0')}":{"value":${n},"type":"number"}`).join(',')}}`

describe.each(engines)('content that was damaged on %s', (engine) => {
  let server: TestServer
  let organization: TestOrganization
  let lines: { level: number; error?: { message?: string }; msg: string }[]
  beforeAll(async () => {
    const log = pino({ level: 'info', serializers: { error: pino.stdSerializers.err } }, {
      write: (line: string) => void lines.push(JSON.parse(line)),
    } as pino.DestinationStream)
    server = await startServer(engine, { cacheBytes: '0' }, log)
    organization = await createTestOrganization(server)
  })
  beforeEach(() => (lines = []))
  afterAll(() => server.stop())

  const write = <T>(work: (tx: Transaction) => Promise<T>) => server.app.deps.database.write(work)
  const rowOf = (id: string) =>
    server.app.deps.database.read((tx) => findStateVersion(tx, id)) as Promise<StateVersionRow>
  const get = (path: string) => organization.owner.client.get(path)
  const ends = (path: string) =>
    get(path).then(
      () => 'whole',
      () => 'broken',
    )
  /** In HTTP/1.0, the end of the connection is the end of an answer without a length. */
  const endsByHttp10 = async (path: string) => {
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
    const { token } = organization.owner.client
    socket.write(`GET /api/v2${path} HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    return new Promise((resolve) => {
      socket.resume().on('error', () => resolve('broken'))
      socket.on('end', () => resolve('whole'))
    })
  }
  /** The log must have exactly one error, and it must name the version. */
  const expectLogged = (id: string) => {
    const errors = lines.filter(({ level }) => level >= 50)
    expect(errors.map(({ error }) => error?.message)).toEqual([expect.stringContaining(id)])
    lines = []
  }

  /** Creates a state of this many chunks that compress badly, with its JSON state. */
  const createContent = async (chunks: number) => {
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const filler = randomBytes(((chunks - 1) * CHUNK_BYTES) / 2).toString('hex')
    const state = stateText('{}').replace('"check_results"', `"filler":"${filler}","check_results"`)
    const made = await postState(client, workspaceId, state)
    expect(made.status, made.text).toBe(201)
    const { attributes, id } = made.json.data
    for (const url of ['hosted-json-state-upload-url', 'hosted-state-upload-url']) {
      expect((await client.request('PUT', attributes[url], state)).status).toBe(200)
    }
    return { workspaceId, id: id as string, state }
  }

  describe('outputs', () => {
    const loseBlock = (id: string, firstPosition: number) =>
      write((tx) =>
        tx.db
          .deleteFrom('output_blocks')
          .where('state_version_id', '=', id)
          .where('first_position', '=', firstPosition)
          .execute(),
      )

    test('of which a block is lost are never answered in part', async () => {
      const { workspaceId, stateVersionId } = await createState(organization, outputsOf(300))
      const first = await get(`/state-versions/${stateVersionId}/outputs?page[size]=1`)
      await loseBlock(stateVersionId, 0)
      const lost = [
        `/state-versions/${stateVersionId}/outputs`,
        `/state-versions/${stateVersionId}/outputs?page[size]=100&page[number]=3`,
        `/state-version-outputs/${first.json.data[0].id}`,
        `/state-versions/${stateVersionId}?include=outputs`,
        `/workspaces/${workspaceId}/current-state-version?include=outputs`,
        `/workspaces/${workspaceId}/current-state-version-outputs`,
        `/workspaces/${workspaceId}?include=outputs`,
      ]
      for (const path of lost) {
        expect((await get(path)).status, path).toBe(500)
        expectLogged(stateVersionId)
      }
      // Outputs in other blocks are answered as before.
      const there = await get(`/state-versions/${stateVersionId}/outputs?page[size]=20&page[number]=14`)
      expect([there.status, there.json.data.length]).toEqual([200, 20])
    })

    test('of which the last block is lost, too', async () => {
      const { workspaceId, stateVersionId } = await createState(organization, outputsOf(300))
      await loseBlock(stateVersionId, 256)
      expect((await get(`/workspaces/${workspaceId}/current-state-version-outputs`)).status).toBe(500)
      expectLogged(stateVersionId)
    })

    test('with a flipped bit, or with a block of another version, are an error that names the version', async () => {
      const { stateVersionId } = await createState(organization, outputsOf(3))
      const other = await createState(organization, outputsOf(3))
      const blocks = (id: string) => sql`output_blocks where state_version_id = ${id}`
      const sealed = (
        await server.app.deps.database.read((tx) =>
          sql<{ sealed: Uint8Array }>`select sealed from ${blocks(stateVersionId)}`.execute(tx.db),
        )
      ).rows[0]?.sealed as Uint8Array
      await write((tx) =>
        tx.db
          .updateTable('output_blocks')
          .set({ sealed })
          .where('state_version_id', '=', other.stateVersionId)
          .execute(),
      )
      expect((await get(`/state-versions/${other.stateVersionId}/outputs`)).status).toBe(500)
      expectLogged(other.stateVersionId)
    })

    test('that are sent while they are read break off: nobody takes a part for all', async () => {
      const { workspaceId, stateVersionId } = await createState(organization, outputsOf(1_200))
      await loseBlock(stateVersionId, 1024)
      const path = `/workspaces/${workspaceId}/current-state-version-outputs`
      expect(await ends(path)).toBe('broken')
      expectLogged(stateVersionId)
      expect(await endsByHttp10(path)).toBe('broken')
      expectLogged(stateVersionId)
    })

    test('that are looked through for what they reveal are an error before their first byte', async () => {
      const { stateVersionId } = await createState(organization, outputsOf(1_200))
      await loseBlock(stateVersionId, 1024)
      expect((await get(`/state-versions/${stateVersionId}?include=outputs`)).status).toBe(500)
      expectLogged(stateVersionId)
    })
  })

  describe('a state', () => {
    type Damage = (id: string, uploadId: string, kind: string) => Promise<unknown>
    const chunkAt = (id: string, uploadId: string, kind: string, number: number) =>
      sql`state_version_id = ${id} and upload_id = ${uploadId} and kind = ${kind} and number = ${number}`
    const lose =
      (number: number): Damage =>
      (id, uploadId, kind) =>
        write((tx) =>
          sql`delete from state_chunks where ${chunkAt(id, uploadId, kind, number)}`.execute(tx.db),
        )
    const sealedAt = async (id: string, uploadId: string, kind: string, number: number) => {
      const { rows } = await server.app.deps.database.read((tx) =>
        sql<{
          sealed: Uint8Array
        }>`select sealed from state_chunks where ${chunkAt(id, uploadId, kind, number)}`.execute(tx.db),
      )
      return Uint8Array.from((rows[0] as { sealed: Uint8Array }).sealed)
    }
    const put = (id: string, uploadId: string, kind: string, number: number, sealed: Uint8Array) =>
      write((tx) =>
        sql`update state_chunks set sealed = ${sealed} where ${chunkAt(id, uploadId, kind, number)}`.execute(
          tx.db,
        ),
      )
    const flip =
      (number: number): Damage =>
      async (id, uploadId, kind) => {
        const sealed = await sealedAt(id, uploadId, kind, number)
        sealed[100] = (sealed[100] as number) ^ 1
        await put(id, uploadId, kind, number, sealed)
      }
    const exchange =
      (one: number, two: number): Damage =>
      async (id, uploadId, kind) => {
        const [first, second] = [
          await sealedAt(id, uploadId, kind, one),
          await sealedAt(id, uploadId, kind, two),
        ]
        await put(id, uploadId, kind, one, second)
        await put(id, uploadId, kind, two, first)
      }
    /** Replaces a chunk by the chunk that another upload of the same version would have there. */
    const ofAnotherUpload =
      (number: number): Damage =>
      async (id, uploadId, kind) => {
        const { secretKey } = server.app.deps.config
        const dataKey = unwrapDataKey(secretKey, id, (await rowOf(id)).wrapped_key)
        const address = { stateVersionId: id, kind: kind as 'state', number, uploadId: 'another' }
        const plain = Buffer.alloc(CHUNK_BYTES, 'x')
        await put(id, uploadId, kind, number, sealPiece(dataKey, address, false, plain))
      }
    const changeHash: Damage = (id, _, kind) => {
      const changes = { [kind === 'state' ? 'md5' : 'json_md5']: md5Of('something else') }
      return write((tx) => tx.db.updateTable('state_versions').set(changes).where('id', '=', id).execute())
    }

    const damages: [string, Damage][] = [
      ['whose first chunk is lost', lose(0)],
      ['of which a chunk in the middle is lost', lose(1)],
      ['whose last chunk is lost', lose(2)],
      ['with a flipped bit', flip(1)],
      ['with two chunks exchanged', exchange(0, 1)],
      ['with a chunk of another upload', ofAnotherUpload(1)],
      ['that is not what its row says', changeHash],
    ]

    test.each(damages)('%s does not arrive whole, and is logged', async (_, damage) => {
      const { id, state } = await createContent(3)
      for (const [path, kind] of [
        ['download', 'state'],
        ['json-download', 'json-state'],
      ] as const) {
        expect(differenceOf((await get(`/state-versions/${id}/${path}`)).text, state)).toBeUndefined()
        const row = await rowOf(id)
        await damage(id, (kind === 'state' ? row.upload_id : row.json_upload_id) as string, kind)
        expect(await ends(`/state-versions/${id}/${path}`)).toBe('broken')
        expectLogged(id)
      }
    })

    test('is not rolled back to, and no version is left of the attempt', async () => {
      const { workspaceId, id } = await createContent(3)
      const row = await rowOf(id)
      await flip(1)(id, row.upload_id as string, 'state')
      const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id } } }
      const back: Response = await organization.owner.client.patch(
        `/workspaces/${workspaceId}/state-versions`,
        body('state-versions', {}, relationships),
      )
      expect(back.status).toBe(500)
      expectLogged(id)
    })

    test('that nobody waits for to its end is no error', async () => {
      const { id } = await createContent(40)
      const { owner } = organization
      const aborted = new AbortController()
      const response = await fetch(`${server.address}/api/v2/state-versions/${id}/download`, {
        headers: { authorization: `Bearer ${owner.client.token}` },
        signal: aborted.signal,
      })
      await response.body?.getReader().read()
      aborted.abort()
      expect((await get(`/state-versions/${id}/download`)).status).toBe(200)
      expect(lines.filter(({ level }) => level >= 40)).toEqual([])
    })
  })
})
