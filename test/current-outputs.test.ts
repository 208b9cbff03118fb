import { beforeAll, expect, test } from 'vitest'
import { outputsInTurn } from '../src/outputs/outputs.ts'
import { deleteOutputBlocks } from '../src/outputs/output-block-store.ts'
import { findStateVersion, type StateVersionRow } from '../src/state-versions/state-version-store.ts'
import type { Client } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState, processed } from './support/states.ts'
import { createTestOrganization, type TestOrganization } from './support/world.ts'

/** More than a document contains at once, with characters of several bytes. */
const MANY = 5_000
const outputs = Array.from({ length: MANY }, (_, n) => {
  const sensitive = n % 7 === 0 ? ', "sensitive": true' : ''
  return `"o${String(n).padStart(5, '0')}": {"value": "é ${n}.10", "type": "string"${sensitive}}`
})

onEachEngine('current outputs of a large state', (server) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  const rowOf = async (id: string) =>
    (await server.app.deps.database.read((tx) => findStateVersion(tx, id))) as StateVersionRow

  test('are the same bytes as of a small one, whether they were kept or not, with turns for others between', async () => {
    const { workspaceId, stateVersionId } = await createState(organization, `{${outputs.join(',')}}`)
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`
    let turns = 0
    const turn = () => {
      turns += 1
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const first = await client.get(path)
    clearImmediate(next)
    expect(turns).toBeGreaterThan(MANY / 256)
    expect(first.status).toBe(200)
    expect(first.headers.get('content-length')).toBeNull()
    expect(first.headers.get('etag')).toBe(`"${stateVersionId}"`)
    expect(server.app.deps.documents.get(`current outputs ${stateVersionId}`)).toBeDefined()
    const again = await client.get(path)
    expect(again.headers.get('content-length')).toBe(String(Buffer.byteLength(first.text)))
    expect(differenceOf(again.text, first.text)).toBeUndefined()

    const page = (number: number) =>
      client.get(`/state-versions/${stateVersionId}/outputs?page[number]=${number}&page[size]=100`)
    const listed = []
    for (let number = 1; number <= MANY / 100; number++) listed.push(...(await page(number)).json.data)
    const expected = listed.map(({ attributes, ...rest }) => {
      const { detailed_type: _, ...kept } = attributes
      return { ...rest, attributes: { ...kept, value: kept.sensitive ? null : kept.value } }
    })
    expect(first.json.data).toEqual(expected)
    expect(first.json.meta.pagination).toMatchObject({ 'total-count': MANY, 'total-pages': 1 })
    expect(first.text.startsWith(`{"data":[{"id":"${first.json.data[0].id}"`)).toBe(true)
    const known = await client.get(path, { 'if-none-match': `"${stateVersionId}"` })
    expect([known.status, known.text]).toEqual([304, ''])
  })

  test('of many readers at once each has the whole document', async () => {
    const { workspaceId } = await createState(organization, `{${outputs.join(',')}}`)
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.get(path)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.json.data).toHaveLength(MANY)
  })

  test('a large value is sent in the same way, and a state without outputs is an empty list', async () => {
    const large = `{"a": {"value": "${'x'.repeat(3_000_000)}", "type": "string"}, "b": {"value": 1, "type": "number"}}`
    const { workspaceId } = await createState(organization, large)
    const answer = await processed(client, `/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(answer.json.data.map((item: never) => item['attributes']['name'])).toEqual(['a', 'b'])
    const encrypted = await createState(organization, '{}')
    const { database } = server.app.deps
    // As for an encrypted state whose outputs came beside it: their sizes are not known.
    await database.write((tx) =>
      tx.db
        .updateTable('state_versions')
        .set({ state_format: null, given_outputs_count: 0 })
        .where('id', '=', encrypted.stateVersionId)
        .execute(),
    )
    const none = await client.get(`/workspaces/${encrypted.workspaceId}/current-state-version-outputs`)
    expect(none.json.data).toEqual([])
    expect(none.json.meta.pagination['total-count']).toBe(0)
  })

  test('what is deleted while it is read ends with an error, and not early', async () => {
    const { stateVersionId } = await createState(organization, `{${outputs.join(',')}}`)
    const { deps } = server.app
    const reading = outputsInTurn(deps, await rowOf(stateVersionId))
    expect((await reading.next()).done).toBe(false)
    await deps.database.write((tx) => deleteOutputBlocks(tx, stateVersionId))
    await expect(reading.next()).rejects.toThrow('is missing')
  })
})
