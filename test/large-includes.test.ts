import { beforeAll, expect, test } from 'vitest'
import { deleteOutputBlocks } from '../src/outputs/output-block-store.ts'
import { revealOfMany } from '../src/outputs/output-reveals.ts'
import { findStateVersion, type StateVersionRow } from '../src/state-versions/state-version-store.ts'
import type { Client, Json } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createState } from './support/states.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  type TestOrganization,
} from './support/world.ts'

/** More than a document contains at once. Every seventh is sensitive, and some look like placeholders in a document. */
const MANY = 4_000
const outputs = Array.from({ length: MANY }, (_, n) => {
  const sensitive = n % 7 === 0 ? ', "sensitive": true' : ''
  return `"o${String(n).padStart(5, '0')}": {"value": {"type": "é", "id": "${n}"}, "type": ["object", {"type": "string", "id": "string"}]${sensitive}}`
})
const sensitiveNames = Array.from(
  { length: Math.ceil(MANY / 7) },
  (_, n) => `o${String(n * 7).padStart(5, '0')}`,
)

onEachEngine('many included outputs', (server) => {
  let organization: TestOrganization
  let client: Client
  let workspaceId: string
  let stateVersionId: string
  let single: Json[]
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
    const id = await createWorkspace(organization, { name: 'many' })
    ;({ workspaceId, stateVersionId } = await createState(organization, `{${outputs.join(',')}}`, id))
    await createState(
      organization,
      '{"few": {"value": 1, "type": "number"}}',
      await createWorkspace(organization, { name: 'few' }),
    )
    single = []
    for (let page = 1; page <= MANY / 100; page++) {
      const { json } = await client.get(
        `/state-versions/${stateVersionId}/outputs?page[number]=${page}&page[size]=100`,
      )
      for (const { attributes, ...rest } of json.data) {
        const { detailed_type: _, ...kept } = attributes
        single.push({ ...rest, attributes: kept })
      }
    }
  })

  /** The same outputs as resources of type workspace-outputs. */
  const inWorkspaces = () =>
    single.map(({ id, attributes: { type, ...attributes }, links }) => ({
      id,
      type: 'workspace-outputs',
      attributes: { ...attributes, 'output-type': type },
      links,
    }))
  const revealed = () =>
    server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', stateVersionId)
        .where('action', '=', 'output.reveal')
        .select('details')
        .orderBy('number')
        .execute(),
    )

  test('are made while they are sent, with turns for others between, and audited before', async () => {
    const all = { 'state-version-outputs': single, 'workspace-outputs': inWorkspaces() }
    const cases = [
      [`/state-versions/${stateVersionId}?include=outputs`, 'state-version-outputs'],
      [`/workspaces/${workspaceId}/current-state-version?include=outputs`, 'state-version-outputs'],
      [`/workspaces/${workspaceId}?include=outputs`, 'workspace-outputs'],
      [`/organizations/${organization.name}/workspaces/many?include=outputs,project`, 'workspace-outputs'],
    ] as const
    let events = (await revealed()).length
    for (const [path, type] of cases) {
      let turns = 0
      const turn = () => {
        turns += 1
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      const answer = await client.get(path)
      clearImmediate(next)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-length')).toBeNull()
      expect(turns).toBeGreaterThan(MANY / 256)
      const { data, included } = answer.json
      expect(data.relationships.outputs.data).toEqual(all[type].map(({ id }) => ({ id, type })))
      expect(included.filter((item: Json) => item.type === type)).toEqual(all[type])
      const audited = await revealed()
      expect(audited).toHaveLength(++events)
      expect(JSON.parse(audited.at(-1)?.details as string)).toMatchObject({ outputs: sensitiveNames })
    }
    const both = await client.get(`/workspaces/${workspaceId}?include=outputs,current_state_version.outputs`)
    const [state] = both.json.included.filter((item: Json) => item.type === 'state-versions')
    expect(state.relationships.outputs.data).toHaveLength(MANY)
    expect(both.json.included).toHaveLength(2 * MANY + 1)
  })

  test('of a list are those of each workspace', async () => {
    const answer = await client.get(`/organizations/${organization.name}/workspaces?include=outputs`)
    const [few, many] = answer.json.data
    expect([few.attributes.name, few.relationships.outputs.data.length]).toEqual(['few', 1])
    expect([many.attributes.name, many.relationships.outputs.data.length]).toEqual(['many', MANY])
    expect(answer.json.included.slice(1)).toEqual(inWorkspaces())
    expect(answer.json.meta.pagination['total-count']).toBe(2)
  })

  test('are null, and not audited, for who may read current outputs alone', async () => {
    const teamId = await createTeam(organization)
    const { client: locker } = await addMember(server, organization, [teamId])
    const grant = { access: 'custom', 'state-versions': 'none', 'workspace-locking': true }
    await grantWorkspace(organization, teamId, workspaceId, grant)
    const before = await revealed()
    const { json } = await locker.get(`/workspaces/${workspaceId}?include=outputs`)
    const values = (items: Json[]) => items.map(({ attributes }) => attributes.value)
    const expected = inWorkspaces().map(({ attributes }) => (attributes.sensitive ? null : attributes.value))
    expect(values(json.included)).toEqual(expected)
    expect(await revealed()).toEqual(before)
  })

  test('that cannot be looked through are an error, and nothing of them is sent', async () => {
    const id = await createWorkspace(organization)
    const broken = await createState(organization, `{${outputs.join(',')}}`, id)
    await server.app.deps.database.write((tx) => deleteOutputBlocks(tx, broken.stateVersionId))
    const row = await server.app.deps.database.read((tx) => findStateVersion(tx, broken.stateVersionId))
    await expect(revealOfMany(server.app.deps, row as StateVersionRow)).rejects.toThrow('is missing')
    expect((await client.get(`/state-versions/${broken.stateVersionId}?include=outputs`)).status).toBe(500)
  })
})
