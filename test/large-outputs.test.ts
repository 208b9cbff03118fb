import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { MAX_NAMED_OUTPUTS } from '../src/outputs/output-reveals.ts'
import type { Client, Json } from './support/client.ts'
import { differenceOf } from './support/difference.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { OpenedBytes } from './support/opened-bytes.ts'
import { isLong } from './support/runs.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createState, processed } from './support/states.ts'
import { addMember, createTestOrganization, type TestOrganization } from './support/world.ts'

const MB = 1_000_000
/** The size of the largest value, in bytes. */
const LARGE = (isLong ? 16 : 3) * MB
/** One turn of the event loop may decompress one stored piece: 256 KiB, or more with characters of several bytes. */
const MAX_IN_TURN = MB

type Given = { name: string; value: string; type: string; sensitive: boolean }

/** In byte order of their names. Each text must come back unchanged. */
const given: Given[] = [
  { name: '"a"', value: '"small"', type: '"string"', sensitive: false },
  // Digits, escapes and characters of several bytes that lie across the ends of parts.
  { name: '"b"', value: `"${'1.50é€\\u0000\\"'.repeat(LARGE / 16)}"`, type: '"string"', sensitive: false },
  { name: '"c"', value: '[1.0,1e400]', type: '["list","number"]', sensitive: true },
  {
    name: '"d"',
    value: `{${Array.from({ length: 12_000 }, (_, n) => `"hidden-key-${n}":${n}.0`).join(',')}}`,
    type: `["object",{${Array.from({ length: 12_000 }, (_, n) => `"hidden-key-${n}":"number"`).join(',')}}]`,
    sensitive: true,
  },
  {
    name: `"e${'€"'.replace('"', '\\"').repeat(100_000)}"`,
    value: '"short"',
    type: '"string"',
    sensitive: true,
  },
  { name: '"f"', value: 'null', type: '"string"', sensitive: false },
]

const outputsOf = (outputs: readonly Given[]) =>
  `{${outputs
    .map(
      ({ name, value, type, sensitive }) =>
        `${name}: {"value": ${value}, "type": ${type}, "sensitive": ${sensitive}}`,
    )
    .join(', ')}}`

onEachEngine('large outputs', (server, engine) => {
  let strict: TestServer
  let organization: TestOrganization
  let client: Client
  let workspaceId: string
  let stateVersionId: string
  let ids: string[]
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
    ;({ workspaceId, stateVersionId } = await createState(organization, outputsOf(given)))
    const current = await processed(client, `/workspaces/${workspaceId}/current-state-version-outputs`)
    ids = current.json.data.map(({ id }: Json) => id)
  })

  const maskedTypes: Record<string, string> = { '"d"': '"object"' }

  /** The expected resource of an output, as text. */
  const resource = (place: number, shape: 'single' | 'listed' | 'workspace-outputs', isMasked: boolean) => {
    const { name, value, type, sensitive } = given[place] as Given
    const isHidden = isMasked && sensitive
    const shownType = isHidden ? (maskedTypes[name] ?? type) : type
    const kind = type.startsWith('["list"') ? 'array' : type.startsWith('["object"') ? 'object' : 'string'
    const [resourceType, typeKey] =
      shape === 'workspace-outputs' ? [shape, 'output-type'] : ['state-version-outputs', 'type']
    const twin = shape === 'listed' ? `,"detailed_type":${shownType}` : ''
    return (
      `{"id":"${ids[place]}","type":"${resourceType}","attributes":{"name":${name},"sensitive":${sensitive},` +
      `"${typeKey}":"${kind}","value":${isHidden ? 'null' : value},"detailed-type":${shownType}${twin}},` +
      `"links":{"self":"/api/v2/state-version-outputs/${ids[place]}"}}`
    )
  }
  const resources = (
    shape: 'single' | 'listed' | 'workspace-outputs',
    isMasked: boolean,
    places = given.keys(),
  ) => Array.from(places, (place) => resource(place, shape, isMasked)).join(',')

  const reveals = async () => {
    const rows = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('action', '=', 'output.reveal')
        .where('resource_id', '=', stateVersionId)
        .select('details')
        .orderBy('number')
        .execute(),
    )
    return rows.map(({ details }) => details)
  }

  test('lie in rows of a bounded size', async () => {
    const { database } = server.app.deps
    const rows = await database.read((tx) =>
      tx.db
        .selectFrom('output_blocks')
        .where('state_version_id', '=', stateVersionId)
        .select('sealed')
        .execute(),
    )
    expect(rows.length).toBeGreaterThan(LARGE / (256 * 1024))
    expect(Math.max(...rows.map(({ sealed }) => sealed.length))).toBeLessThan(300_000)
  })

  test('are sent byte for byte wherever they are shown, a piece a turn', async () => {
    const opened = new OpenedBytes()
    try {
      const shown = async (path: string, expected: string) => {
        const { status, text } = await client.get(path)
        expect(status).toBe(200)
        expect(text.includes(expected), path.slice(0, 80)).toBe(true)
        return text
      }
      for (const [place, id] of ids.entries()) {
        const text = await shown(`/state-version-outputs/${id}`, resource(place, 'single', false))
        expect(differenceOf(text, `{"data":${resource(place, 'single', false)}}`)).toBeUndefined()
      }
      const list = `/state-versions/${stateVersionId}/outputs`
      await shown(list, `{"data":[${resources('listed', false)}],"links":`)
      await shown(
        `${list}?page[size]=2&page[number]=2`,
        `{"data":[${resources('listed', false, [2, 3].values())}],"links":`,
      )
      const single = `"included":[${resources('single', false)}]`
      await shown(`/state-versions/${stateVersionId}?include=outputs`, single)
      await shown(`/workspaces/${workspaceId}/current-state-version?include=outputs`, single)
      const ofWorkspace = `"included":[${resources('workspace-outputs', false)}]`
      await shown(`/workspaces/${workspaceId}?include=outputs`, ofWorkspace)
      await shown(`/organizations/${organization.name}/workspaces?include=outputs`, ofWorkspace)
      const { client: member } = await addMember(server, organization)
      const current = await member.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
      expect(current.text.startsWith(`{"data":[${resources('single', true)}],"links":`)).toBe(true)
      expect(current.text).not.toContain('hidden-key')
      expect(opened.all).toBeGreaterThan(LARGE * 5)
      expect(opened.mostInTurn).toBeLessThan(MAX_IN_TURN)
    } finally {
      opened.stop()
    }
  })

  test('are not opened faster than their readers take them', async () => {
    const opened = new OpenedBytes()
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
    try {
      await once(socket, 'connect')
      socket.pause()
      const head = `GET /api/v2/state-version-outputs/${ids[1]} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.token}\r\n\r\n`
      // The operating system buffers only a part of one answer.
      socket.write(head.repeat(8))
      let before = -1
      while (opened.all === 0 || opened.all > before) {
        before = opened.all
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      expect(opened.all).toBeLessThan(LARGE * 4)
    } finally {
      opened.stop()
      socket.destroy()
    }
  })

  test('are audited by a name of bounded length, and many of them by some names and their number', async () => {
    const before = (await reveals()).length
    await client.get(`/state-version-outputs/${ids[4]}`)
    await client.get(`/state-versions/${stateVersionId}/outputs?page[size]=2&page[number]=3`)
    const [shown = '', listed = ''] = (await reveals()).slice(before)
    const name = `e${'€"'.repeat(128)}`.slice(0, 256)
    expect(JSON.parse(shown)).toMatchObject({ outputs: [`${name}… (200001 characters)`] })
    expect(JSON.parse(listed)).toEqual(JSON.parse(shown))

    const many = Array.from(
      { length: 4_000 },
      (_, n) =>
        `"o${String(n).padStart(4, '0')}${'x'.repeat(300)}": {"value": 1, "type": "number", "sensitive": true}`,
    )
    const { stateVersionId: id } = await createState(organization, `{${many.join(',')}}`)
    const answer = await processed(client, `/state-versions/${id}?include=outputs`)
    expect(answer.json.included).toHaveLength(4_000)
    const { details } = await server.app.deps.database.read((tx) =>
      tx.db
        .selectFrom('audit_events')
        .where('resource_id', '=', id)
        .where('action', '=', 'output.reveal')
        .select('details')
        .executeTakeFirstOrThrow(),
    )
    const { outputs, 'outputs-count': count } = JSON.parse(details)
    expect([outputs.length, count]).toEqual([MAX_NAMED_OUTPUTS, 4_000])
    expect(outputs[7]).toBe(`o0007${'x'.repeat(251)}… (305 characters)`)
  })

  test('of which a part is lost break off, and are not audited as read in part', async () => {
    strict = await startServer(engine, { maskListedOutputs: 'true' })
    const home = await createTestOrganization(strict)
    const made = await createState(home, outputsOf(given.slice(2, 5)))
    await processed(home.owner.client, `/workspaces/${made.workspaceId}/current-state-version-outputs`)
    const listed = await home.owner.client.get(`/state-versions/${made.stateVersionId}/outputs`)
    expect(listed.text).not.toContain('"hidden-key-0":0.0')
    await strict.app.deps.database.write((tx) =>
      tx.db
        .deleteFrom('output_blocks')
        .where('state_version_id', '=', made.stateVersionId)
        .where('part', '=', 2)
        .execute(),
    )
    await expect(home.owner.client.get(`/state-versions/${made.stateVersionId}/outputs`)).rejects.toThrow(
      'terminated',
    )
    await strict.stop()
  })
})
