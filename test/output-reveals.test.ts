import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyAuditTrail } from '../src/audit/audit-verify.ts'
import type { Json, Response } from './support/client.ts'
import { engines } from './support/engines.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState } from './support/states.ts'
import { addMember, createTestOrganization, type TestOrganization } from './support/world.ts'

const outputs = `{
  "open": {"value": "seen", "type": "string"},
  "password": {"value": "hunter2", "type": "string", "sensitive": true},
  "pin\\u0000": {"value": {"code": "hunter3"}, "type": ["object", {"code": "string"}], "sensitive": true}
}`

/** The values of the outputs in an answer: in its data, or in what it includes. */
function valuesOf({ json }: Response): Record<string, unknown> {
  const resources: Json[] = [json.included ?? json.data].flat()
  return Object.fromEntries(resources.map(({ attributes }) => [attributes.name, attributes.value]))
}

const real = { open: 'seen', password: 'hunter2', 'pin\0': { code: 'hunter3' } }
const masked = { open: 'seen', password: null, 'pin\0': null }

describe.each(engines)('sensitive outputs on %s', (engine) => {
  let server: TestServer
  let strict: TestServer
  let current: TestServer
  beforeAll(async () => {
    server = await startServer(engine)
    strict = await startServer(engine, { maskListedOutputs: 'true' })
    current = await startServer(engine, { dialect: 'current' })
  })
  afterAll(async () => {
    await server.stop()
    await strict.stop()
    await current.stop()
  })

  /** All lists of outputs, except the current outputs. */
  const lists = (organization: TestOrganization, workspaceId: string, stateVersionId: string) => [
    `/state-versions/${stateVersionId}/outputs`,
    `/state-versions/${stateVersionId}?include=outputs`,
    `/workspaces/${workspaceId}/current-state-version?include=outputs`,
    `/workspaces/${workspaceId}?include=outputs`,
    `/organizations/${organization.name}/workspaces?include=outputs`,
  ]
  const reveals = (on: TestServer, resourceId: string) =>
    on.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', resourceId)
        .where('action', 'in', ['output.reveal', 'state-version.download'])
        .select(['action', 'actor_id', 'details'])
        .orderBy('number')
        .execute(),
    )

  test('masked, tell neither the keys of an object nor the length of a tuple; revealed, they do', async () => {
    const organization = await createTestOrganization(server)
    const { workspaceId, stateVersionId } = await createState(
      organization,
      `{
        "declared": {"value": [{"hidden-key": "x"}], "type": ["list", ["object", {"hidden-key": "string"}]], "sensitive": true},
        "implied": {"value": [{"hidden-key": "x"}, 1], "sensitive": true},
        "open": {"value": {"shown-key": 1}, "type": ["object", {"shown-key": "number"}]}
      }`,
    )
    const typesIn = ({ json }: Response) =>
      Object.fromEntries(
        [json.included ?? json.data]
          .flat()
          .map(({ attributes }: Json) => [attributes.name, attributes['detailed-type']]),
      )
    const hidden = {
      declared: ['list', 'object'],
      implied: 'tuple',
      open: ['object', { 'shown-key': 'number' }],
    }
    const { client: member } = await addMember(server, organization)
    const current = await member.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    expect(typesIn(current)).toEqual(hidden)
    expect(current.text).not.toContain('hidden-key')

    // OpenTofu uses the type in this list to decode the value of a sensitive output.
    const { client: owner } = organization.owner
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`
    const exact = '"value":null,"detailed-type":["list",["object",{"hidden-key":"string"}]]'
    const ofReader = await owner.get(path)
    expect(ofReader.text).toContain(exact)
    const again = await member.get(path, { 'if-none-match': ofReader.headers.get('etag') as string })
    expect(again.status).toBe(200)
    expect(typesIn(again)).toEqual(hidden)
    for (const list of lists(organization, workspaceId, stateVersionId)) {
      const answer = await owner.get(list)
      expect(answer.text, list).toContain('"detailed-type":["list",["object",{"hidden-key":"string"}]]')
    }
  })

  test('are real for who may read them, each time with one event that names version and outputs', async () => {
    const organization = await createTestOrganization(server)
    const { client, id: ownerId } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    let count = 0
    for (const path of lists(organization, workspaceId, stateVersionId)) {
      for (let time = 0; time < 2; time++) {
        const answer = await client.get(path)
        expect(valuesOf(answer)).toEqual(real)
        expect([answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual(['no-store', null])
        const events = await reveals(server, stateVersionId)
        expect(events).toHaveLength(++count)
        expect(events.at(-1)).toMatchObject({ action: 'output.reveal', actor_id: ownerId })
        expect(JSON.parse(events.at(-1)?.details as string)).toEqual({
          outputs: ['password', 'pin\0'],
          'client-address': '127.0.0.1',
        })
      }
    }
    const { data } = (await client.get(`/state-versions/${stateVersionId}/outputs?page[size]=1`)).json
    expect((await client.get(`/state-version-outputs/${data[0].id}`)).json.data.attributes.value).toBe('seen')
    expect(await reveals(server, stateVersionId)).toHaveLength(count)
    const second = (await client.get(`/state-versions/${stateVersionId}/outputs?page[size]=1&page[number]=2`))
      .json.data[0]
    expect((await client.get(`/state-version-outputs/${second.id}`)).json.data.attributes.value).toBe(
      'hunter2',
    )
    await client.get(`/state-versions/${stateVersionId}/download`)
    const events = (await reveals(server, stateVersionId)).slice(count)
    expect(events.map(({ action }) => action)).toEqual([
      'output.reveal',
      'output.reveal',
      'state-version.download',
    ])
    expect(JSON.stringify(events)).not.toContain('hunter')
  })

  test('are null among the current ones, for whoever asks, and that is no reveal', async () => {
    const organization = await createTestOrganization(server)
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    const member = await addMember(server, organization)
    for (const { client } of [organization.owner, member]) {
      const answer = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
      expect(valuesOf(answer)).toEqual(masked)
      expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    }
    expect(await reveals(server, stateVersionId)).toEqual([])
  })

  test('asked for by many at once are events of their own, in one unbroken trail', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { stateVersionId } = await createState(organization, outputs)
    const { data } = (await client.get(`/state-versions/${stateVersionId}/outputs`)).json
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => client.get(`/state-version-outputs/${data[1].id}`)),
    )
    for (const answer of answers) expect(answer.json.data.attributes.value).toBe('hunter2')
    const { database, auditKey } = server.app.deps
    const requests = await database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('action', '=', 'output.reveal')
        .where('organization_id', '=', organization.id)
        .select('request_id')
        .execute(),
    )
    expect(requests.map((row) => row.request_id)).toEqual(
      expect.arrayContaining(answers.map(({ headers }) => headers.get('x-request-id'))),
    )
    expect(requests).toHaveLength(41)
    expect((await database.read((tx) => verifyAuditTrail(tx, auditKey))).problem).toBeUndefined()
  })

  test('PURSER_MASK_LISTED_OUTPUTS nulls them wherever several are, and leaves the single one', async () => {
    const organization = await createTestOrganization(strict)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    for (const path of lists(organization, workspaceId, stateVersionId)) {
      // The second answer may come from a cache.
      for (let time = 0; time < 2; time++) expect(valuesOf(await client.get(path))).toEqual(masked)
    }
    expect(await reveals(strict, stateVersionId)).toEqual([])
    const { data } = (await client.get(`/state-versions/${stateVersionId}/outputs`)).json
    expect((await client.get(`/state-version-outputs/${data[1].id}`)).json.data.attributes.value).toBe(
      'hunter2',
    )
    expect(await reveals(strict, stateVersionId)).toHaveLength(1)
  })

  test('the dialect current masks lists by default, so a read of the tfe provider is one reveal', async () => {
    const organization = await createTestOrganization(current)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    for (const path of lists(organization, workspaceId, stateVersionId)) {
      expect(valuesOf(await client.get(path)), path).toEqual(masked)
    }
    expect(await reveals(current, stateVersionId)).toEqual([])
    const { name } = (await client.get(`/workspaces/${workspaceId}`)).json.data.attributes
    const read = await client.get(`/organizations/${organization.name}/workspaces/${name}?include=outputs`)
    const secret = read.json.included.find(({ attributes }: Json) => attributes.name === 'password')
    const single = await client.get(`/state-version-outputs/${secret.id}`)
    expect(single.json.data.attributes.value).toBe('hunter2')
    expect(await reveals(current, stateVersionId)).toHaveLength(1)
  })

  test('PURSER_MASK_LISTED_OUTPUTS=false shows them in the dialect current, too', async () => {
    const open = await startServer(engine, { dialect: 'current', maskListedOutputs: 'false' })
    try {
      const organization = await createTestOrganization(open)
      const { workspaceId, stateVersionId } = await createState(organization, outputs)
      for (const path of lists(organization, workspaceId, stateVersionId)) {
        expect(valuesOf(await organization.owner.client.get(path)), path).toEqual(real)
      }
    } finally {
      await open.stop()
    }
  })

  test('are kept back while the audit trail cannot be written; what reveals nothing is answered', async () => {
    const organization = await createTestOrganization(server)
    const { client } = organization.owner
    const { workspaceId, stateVersionId } = await createState(organization, outputs)
    const { data } = (await client.get(`/state-versions/${stateVersionId}/outputs`)).json
    const rename = (from: string, to: string) =>
      server.app.deps.database.write((tx) => sql.raw(`alter table ${from} rename to ${to}`).execute(tx.db))
    await rename('audit_events', 'audit_events_away')
    try {
      const revealing = [
        ...lists(organization, workspaceId, stateVersionId),
        `/state-version-outputs/${data[1].id}`,
        `/state-versions/${stateVersionId}/download`,
      ]
      for (const path of revealing) {
        const answer = await client.get(path)
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
        expect(answer.text).not.toContain('hunter')
      }
      expect((await client.get(`/state-version-outputs/${data[0].id}`)).status).toBe(200)
      const current = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
      expect(valuesOf(current)).toEqual(masked)
    } finally {
      await rename('audit_events_away', 'audit_events')
    }
    expect((await client.get(`/state-version-outputs/${data[1].id}`)).status).toBe(200)
  })
})
