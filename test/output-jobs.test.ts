import pino from 'pino'
import { beforeAll, expect, test, vi } from 'vitest'
import { timestamp } from '../src/core/clock.ts'
import type { Database, Transaction } from '../src/database/database.ts'
import { sharedTime } from '../src/database/shared-clock.ts'
import { databaseUnavailable } from '../src/database/unavailable.ts'
import { findTrouble } from '../src/operation/doctor-store.ts'
import { findOutputBlocks } from '../src/outputs/output-block-store.ts'
import { sealOutputs } from '../src/outputs/output-blocks.ts'
import { newDataKey } from '../src/state-versions/state-crypto.ts'
import { takeJob } from '../src/outputs/output-job-store.ts'
import { OutputJobs, type ProcessOutputs } from '../src/outputs/output-jobs.ts'
import { findStateVersion, updateStateVersion } from '../src/state-versions/state-version-store.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState, lock, postState, stateText } from './support/states.ts'
import { createTestOrganization, createWorkspace, type TestOrganization } from './support/world.ts'

const log = pino({ level: 'silent' })
const PAST_THE_LEASE_MS = 12_000

/** The result of a job in these tests: one output, readable or not. */
const oneBlock: ProcessOutputs = (stateVersion) => {
  const output = {
    name: '"a"',
    value: '1',
    type: 'number',
    detailedType: '"number"',
    sensitive: false,
  } as const
  return Promise.resolve({ count: 1, blocks: sealOutputs(newDataKey(), stateVersion.id, [output]) })
}

onEachEngine('background processing of outputs', { inlineStateBytes: '0' }, (server) => {
  let organization: TestOrganization
  let database: Database
  beforeAll(async () => {
    ;({ database } = server.app.deps)
    organization = await createTestOrganization(server)
    // These tests run the jobs themselves.
    await server.app.deps.states.stop()
  })

  const node = (process: ProcessOutputs, over: Database = database) =>
    new OutputJobs(over, server.clock, log, process)

  const row = async (id: string) => {
    const found = await database.read((tx) => findStateVersion(tx, id))
    if (found === undefined) throw new Error('there is no such version')
    return found
  }
  const processed = (id: string) =>
    vi.waitFor(async () => expect((await row(id)).resources_processed).toBe(1), 5_000)
  const blocksOf = (id: string) => database.read((tx) => findOutputBlocks(tx, id, 0, 10, 10))
  const unprocessedState = async () =>
    (await createState(organization, '{"a": {"value": 1, "type": "number"}}')).stateVersionId

  test('of two nodes one processes each state, once', async () => {
    const ids: string[] = []
    for (let n = 0; n < 12; n++) ids.push(await unprocessedState())
    const runs: string[] = []
    const count: ProcessOutputs = (stateVersion, keep) => {
      runs.push(stateVersion.id)
      return oneBlock(stateVersion, keep)
    }
    const [first, second] = [node(count), node(count)]
    first.start()
    second.start()
    for (const id of ids) await processed(id)
    await Promise.all([first.stop(), second.stop()])
    expect(runs.toSorted()).toEqual(ids.toSorted())
    for (const id of ids)
      expect(await row(id)).toMatchObject({ attempts: 1, lease_until: null, outputs_count: 1 })
  })

  test('a node that stops in the middle loses the job to another, and changes nothing when it goes on', async () => {
    const id = await unprocessedState()
    const [stopped, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let writes = 0
    const stalling: Database = {
      engine: database.engine,
      availability: database.availability,
      load: database.load,
      read: (work) => database.read(work),
      write: async <T>(work: (tx: Transaction) => Promise<T>) => {
        writes++
        // The job has been taken and its lease renewed.
        if (writes === 3) {
          stopped.resolve()
          await goOn.promise
        }
        return database.write(work)
      },
      close: () => database.close(),
    }
    const first = node(oneBlock, stalling)
    first.start()
    await stopped.promise
    await server.passTime(PAST_THE_LEASE_MS)
    const second = node(oneBlock)
    second.start()
    await processed(id)
    await second.stop()
    const [block] = await blocksOf(id)
    goOn.resolve()
    await first.stop()
    expect(await blocksOf(id)).toEqual([block])
    expect(await row(id)).toMatchObject({ attempts: 2, outputs_count: 1, last_failure: null })
  })

  test('a job that takes long stays with its node', async () => {
    const id = await unprocessedState()
    const taken: unknown[] = []
    const slow: ProcessOutputs = async (stateVersion, keep) => {
      for (let part = 0; part < 4; part++) {
        await server.passTime(PAST_THE_LEASE_MS / 2)
        await keep()
        const take = async (tx: Transaction) =>
          takeJob(tx, id, timestamp(await sharedTime(tx, server.clock)), '2999')
        taken.push(await database.write(take))
      }
      return oneBlock(stateVersion, keep)
    }
    const jobs = node(slow)
    jobs.start()
    await processed(id)
    await jobs.stop()
    expect(taken).toEqual([undefined, undefined, undefined, undefined])
    expect((await row(id)).attempts).toBe(1)
  })

  test('an outage of the database is no attempt', async () => {
    const id = await unprocessedState()
    let left = 3
    const jobs = node((stateVersion, keep) => {
      if (left === 0) return oneBlock(stateVersion, keep)
      left -= 1
      return Promise.reject(databaseUnavailable(undefined))
    })
    jobs.start()
    for (const expected of [2, 1, 0]) {
      await vi.waitFor(async () => {
        jobs.wake()
        expect([left, (await row(id)).attempts]).toEqual([expected, 0])
      }, 5_000)
      await server.passTime(6_000)
    }
    await vi.waitFor(async () => {
      jobs.wake()
      expect((await row(id)).resources_processed).toBe(1)
    }, 5_000)
    await jobs.stop()
    expect(await row(id)).toMatchObject({ attempts: 1, outputs_count: 1, last_failure: null })
  })

  test('what fails ten times is 500 from then on, and the doctor names it', async () => {
    const workspaceId = await createWorkspace(organization)
    const { stateVersionId: id } = await createState(organization, '{"a": {"value": 1}}', workspaceId)
    const { client } = organization.owner
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`
    const jobs = node(() => Promise.reject(new Error('it cannot be read')))
    jobs.start()
    for (let attempt = 1; attempt <= 10; attempt++) {
      await vi.waitFor(async () => {
        jobs.wake()
        const { last_failure: failure, attempts } = await row(id)
        expect([failure, attempts]).toEqual(['it cannot be read', attempt])
      }, 5_000)
      if (attempt === 10) break
      const answer = await client.get(path)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
      await server.passTime(6_000)
    }
    await processed(id)
    await jobs.stop()
    const answer = await client.get(path)
    expect(answer.status).toBe(500)
    const { failedJobs } = await database.read((tx) => findTrouble(tx, timestamp(server.clock.now())))
    expect(failedJobs).toContain(`${id} (tried 10 times: it cannot be read)`)
  }, 30_000)

  test('what ended the server ten times is not tried again', async () => {
    const id = await unprocessedState()
    await database.write((tx) => updateStateVersion(tx, id, { attempts: 10 }))
    const process = vi.fn(oneBlock)
    const jobs = node(process)
    jobs.start()
    await processed(id)
    await jobs.stop()
    expect(process).not.toHaveBeenCalled()
    expect((await row(id)).last_failure).toContain('the server ended each time')
  })

  test('a workspace may go while its state is processed', async () => {
    const workspaceId = await createWorkspace(organization)
    const { stateVersionId: id } = await createState(organization, '{"a": {"value": 1}}', workspaceId)
    const gone = Promise.withResolvers<void>()
    const jobs = node(async (stateVersion, keep) => {
      expect((await organization.owner.client.delete(`/workspaces/${workspaceId}`)).status).toBe(204)
      gone.resolve()
      return oneBlock(stateVersion, keep)
    })
    jobs.start()
    await gone.promise
    await jobs.stop()
    expect(await blocksOf(id)).toEqual([])
  })

  test('outputs that are not processed are 503 wherever they are listed or included', async () => {
    // No other workspace is in the list.
    const own = await createTestOrganization(server)
    const { client } = own.owner
    const { workspaceId, stateVersionId } = await createState(own, '{"a": {"value": 1}}')
    const documents = [
      `/state-versions/${stateVersionId}`,
      `/workspaces/${workspaceId}/current-state-version`,
    ]
    const list = `/state-versions/${stateVersionId}/outputs`
    for (const path of [
      list,
      `/workspaces/${workspaceId}/current-state-version-outputs`,
      ...documents.map((path) => `${path}?include=outputs`),
      `/workspaces/${workspaceId}?include=outputs`,
      `/workspaces/${workspaceId}?include=current_state_version.outputs`,
      `/organizations/${own.name}/workspaces?include=outputs`,
    ]) {
      const answer = await client.get(path)
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '1'])
      expect(answer.json.errors[0].detail).toBe('the outputs are still being processed; try again')
    }
    // Clients ask for this document again until it says that everything is there.
    for (const path of documents) {
      const { status, json } = await client.get(path)
      expect([status, json.data.attributes['resources-processed']]).toEqual([200, false])
      expect(json.data.relationships.outputs).toEqual({ links: { related: `/api/v2${list}` } })
    }
    expect((await client.get(`/workspaces/${workspaceId}`)).status).toBe(200)
  })

  test('a pending version has no outputs, and nobody has to wait for them', async () => {
    const { client } = organization.owner
    const workspaceId = await createWorkspace(organization)
    await lock(client, workspaceId)
    const { id } = (await postState(client, workspaceId, stateText('{}'))).json.data
    const listed = await client.get(`/state-versions/${id}/outputs`)
    expect([listed.status, listed.json.data]).toEqual([200, []])
    const shown = await client.get(`/state-versions/${id}?include=outputs`)
    expect([shown.status, shown.json.data.attributes.status]).toEqual([200, 'pending'])
    expect([shown.json.data.relationships.outputs.data, shown.json.included]).toEqual([[], []])
  })
})
