import { beforeAll, expect, test } from 'vitest'
import { PREVIEW_CHARACTERS } from '../src/outputs/output-previews.ts'
import type { Client, Response } from './support/client.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { base64, createState, lock, postState, processed, stateText } from './support/states.ts'
import {
  addMember,
  createTeam,
  createTestOrganization,
  createWorkspace,
  grantWorkspace,
  uniqueName,
  type TestOrganization,
} from './support/world.ts'

/** More than an answer opens at once. */
const MANY = 2_000
const LARGE = 300_000

type Outputs = Record<string, string>
const textOf = (outputs: Outputs) =>
  `{${Object.entries(outputs)
    .map(([name, output]) => `${JSON.stringify(name)}: ${output}`)
    .join(',')}}`
const string = (value: string, more = '') => `{"value": ${JSON.stringify(value)}, "type": "string"${more}}`
const SENSITIVE = ', "sensitive": true'
const many = (value: (n: number) => string): Outputs =>
  Object.fromEntries(
    Array.from({ length: MANY }, (_, n) => [
      `o${String(n).padStart(4, '0')}`,
      string(value(n) + 'x'.repeat(1_000)),
    ]),
  )

onEachEngine('output previews and changes', (server) => {
  let organization: TestOrganization
  let client: Client
  beforeAll(async () => {
    organization = await createTestOrganization(server)
    ;({ client } = organization.owner)
  })

  const upload = async (workspaceId: string, outputs: Outputs, serial: number): Promise<string> => {
    await lock(client, workspaceId)
    const state = stateText(textOf(outputs), serial)
    const made = await postState(client, workspaceId, state, { state: base64(state) })
    expect(made.status, made.text).toBe(201)
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    return made.json.data.id
  }
  const changes = (id: string, query = '') =>
    processed(client, `/state-versions/${id}/output-changes?${query}`)
  const attributes = ({ json }: Response) => json.data.map((item: { attributes: object }) => item.attributes)

  test('a preview has the text of a value with every digit, and nothing of a sensitive value', async () => {
    const outputs = {
      id: '{"value": 9007199254740993.10, "type": "number"}',
      name: string('a "b" é'),
      password: string('s3cret', SENSITIVE),
      settings:
        '{"value": {"password": "s3cret"}, "type": ["object", {"password": "string"}], "sensitive": true}',
    }
    const { stateVersionId } = await createState(organization, textOf(outputs))
    const answer = await client.get(`/state-versions/${stateVersionId}/output-previews`)
    const hidden = { sensitive: true, 'value-text': null, 'value-bytes': null }
    expect(attributes(answer)).toEqual([
      {
        name: 'id',
        sensitive: false,
        type: 'number',
        'detailed-type': 'number',
        'value-text': '9007199254740993.10',
        'value-bytes': 19,
      },
      {
        name: 'name',
        sensitive: false,
        type: 'string',
        'detailed-type': 'string',
        'value-text': '"a \\"b\\" é"',
        'value-bytes': 12,
      },
      { name: 'password', type: 'string', 'detailed-type': 'string', ...hidden },
      { name: 'settings', type: 'object', 'detailed-type': ['object', { password: 'string' }], ...hidden },
    ])
    expect(answer.text).not.toContain('s3cret')
    const { json } = await client.get(`/state-versions/${stateVersionId}/outputs`)
    expect(answer.json.data.map(({ id }: { id: string }) => id)).toEqual(
      json.data.map(({ id }: { id: string }) => id),
    )
    const trail = await client.get(
      `/organizations/${organization.name}/audit-events?filter[action]=output.reveal`,
    )
    expect(
      trail.json.data.filter(
        (event: { attributes: { 'request-id': string } }) =>
          event.attributes['request-id'] === answer.headers.get('x-request-id'),
      ),
    ).toEqual([])
  })

  test('a caller who may not read the values does not see the shape of a sensitive one, and has another ETag', async () => {
    const settings = '{"value": {"key": "s3cret"}, "type": ["object", {"key": "string"}], "sensitive": true}'
    const { workspaceId, stateVersionId } = await createState(organization, textOf({ settings }))
    const path = `/workspaces/${workspaceId}/current-output-previews`
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspaceId, {
      access: 'custom',
      'state-versions': 'read-outputs',
    })
    const reader = await addMember(server, organization, [team])
    const plain = await addMember(server, organization)
    const answer = await processed(reader.client, path)
    expect(attributes(answer)[0]['detailed-type']).toEqual(['object', { key: 'string' }])
    const masked = await plain.client.get(path)
    expect(attributes(masked)[0]).toMatchObject({ 'detailed-type': 'object', 'value-text': null })
    expect([answer.headers.get('etag'), masked.headers.get('etag')]).toEqual([
      `"${stateVersionId}"`,
      `"${stateVersionId}-masked"`,
    ])
    const known = await plain.client.get(path, { 'if-none-match': `"${stateVersionId}-masked"` })
    expect([known.status, known.text]).toEqual([304, ''])
    expect((await plain.client.get(path, { 'if-none-match': `"${stateVersionId}"` })).status).toBe(200)
    for (const kind of ['output-previews', 'output-changes']) {
      expect((await reader.client.get(`/state-versions/${stateVersionId}/${kind}`)).status).toBe(200)
      expect((await plain.client.get(`/state-versions/${stateVersionId}/${kind}`)).status).toBe(404)
    }
  })

  test('a search ignores case, and its pages count what it finds', async () => {
    const names = ['address', 'DB_Address', 'other', 'replica_address']
    const { stateVersionId } = await createState(
      organization,
      textOf(Object.fromEntries(names.map((name) => [name, string(name)]))),
    )
    const path = `/state-versions/${stateVersionId}/output-previews?q=aDDress&page[size]=2`
    const first = await processed(client, path)
    expect(attributes(first).map(({ name }: { name: string }) => name)).toEqual(['DB_Address', 'address'])
    const second = await client.get(`${path}&page[number]=2`)
    expect(attributes(second).map(({ name }: { name: string }) => name)).toEqual(['replica_address'])
    expect(second.json.meta.pagination).toMatchObject({ 'total-count': 3, 'total-pages': 2 })
    expect((await client.get(`${path}&page[number]=3`)).json.data).toEqual([])
    expect((await client.get(`/state-versions/${stateVersionId}/output-previews?q=none`)).json.data).toEqual(
      [],
    )
  })

  test('a search looks at the whole name, and not at how a long one is shown', async () => {
    const start = 'a'.repeat(256)
    const small = { [`${start}needle`]: string('1'), [`${start}other`]: string('2') }
    const large = { [`${start}needle-2`]: string('x'.repeat(LARGE)), large: string('y'.repeat(LARGE)) }
    for (const [outputs, found] of [
      [small, [`${start}… (262 characters)`]],
      [{ ...small, ...large }, [`${start}… (262 characters)`, `${start}… (264 characters)`]],
    ] as const) {
      const { stateVersionId } = await createState(organization, textOf(outputs))
      const search = async (q: string) =>
        attributes(await processed(client, `/state-versions/${stateVersionId}/output-previews?q=${q}`)).map(
          ({ name }: { name: string }) => name,
        )
      expect(await search('Needle')).toEqual(found)
      expect(await search('characters')).toEqual([])
      expect(await search('large')).toEqual('large' in outputs ? ['large'] : [])
    }
  })

  test('a long value is cut between characters, and a state of any size is searched', async () => {
    const outputs = {
      ...many((n) => `${n} `),
      long: string(`a${'😀'.repeat(LARGE / 4)}`),
      map: `{"value": {${Array.from({ length: 20_000 }, (_, n) => `"k${n}": 1`).join(',')}}, "type": ["map", "number"]}`,
      zero: string('0'),
    }
    const { stateVersionId } = await createState(organization, textOf(outputs))
    const path = `/state-versions/${stateVersionId}/output-previews`
    const found = attributes(await processed(client, `${path}?q=o0`))
    expect(found).toHaveLength(20)
    const [long] = attributes(await client.get(`${path}?q=LONG`))
    expect(long['value-text']).toBe(`"a${'😀'.repeat(PREVIEW_CHARACTERS / 2 - 1)}`)
    expect(long['value-bytes']).toBe(LARGE + 3)
    const [map] = attributes(await client.get(`${path}?q=map`))
    expect(map['value-text']).toHaveLength(PREVIEW_CHARACTERS)
    expect(map['detailed-type']).toEqual(['map', 'number'])
    const last = await client.get(`${path}?page[size]=3&page[number]=${Math.ceil((MANY + 3) / 3)}`)
    expect(attributes(last).map(({ name }: { name: string }) => name)).toEqual(['o1999', 'zero'])
    expect(last.json.meta.pagination['total-count']).toBe(MANY + 3)
  })

  test('changes name what was added, removed and changed, and never a sensitive value', async () => {
    const before = {
      address: string('old'),
      gone: string('gone'),
      kept: string('kept'),
      number: '{"value": 1.0, "type": "number"}',
      password: string('s3cret-1', SENSITIVE),
      published: string('same', SENSITIVE),
      retyped: '{"value": ["a"], "type": ["list", "string"]}',
    }
    const after = {
      ...before,
      address: string('new'),
      number: '{"value": 1.00, "type": "number"}',
      password: string('s3cret-2', SENSITIVE),
      published: string('same'),
      region: string('eu-1'),
      retyped: '{"value": ["a"], "type": ["set", "string"]}',
      secret: string('s3cret-3', SENSITIVE),
    }
    const { gone: _, ...rest } = after
    const { workspaceId, stateVersionId: first } = await createState(organization, textOf(before))
    const second = await upload(workspaceId, rest, 2)
    const answer = await changes(second)
    const told = attributes(answer).map((item: Record<string, unknown>) => [
      item.name,
      item.change,
      item.differs,
      (item.before as Record<string, unknown> | null)?.['value-text'],
      (item.after as Record<string, unknown> | null)?.['value-text'],
    ])
    expect(told).toEqual([
      ['address', 'changed', ['value'], '"old"', '"new"'],
      ['gone', 'removed', [], '"gone"', undefined],
      ['number', 'changed', ['value'], '1.0', '1.00'],
      ['password', 'changed', ['value'], null, null],
      ['published', 'changed', ['sensitive'], null, '"same"'],
      ['region', 'added', [], undefined, '"eu-1"'],
      ['retyped', 'changed', ['type'], '["a"]', '["a"]'],
      ['secret', 'added', [], undefined, null],
    ])
    expect(answer.text).not.toContain('s3cret')
    expect(answer.json.meta).toMatchObject({ added: 2, changed: 5, removed: 1 })
    expect(answer.headers.get('etag')).toBe(`"${first}-${second}"`)
    const back = await changes(first, `since=${second}`)
    expect(back.json.meta).toMatchObject({ added: 1, changed: 5, removed: 2 })
    const start = await changes(first)
    expect(start.json.meta).toMatchObject({ added: 7, changed: 0, removed: 0 })
    const page = await changes(second, 'page[size]=3&page[number]=3')
    expect(attributes(page)).toEqual(attributes(answer).slice(6))
  })

  test('a comparison with a sensitive value is a reveal, whether it is the same or not', async () => {
    const outputs = (secret: string, more = SENSITIVE) => ({
      open: string('a'),
      other: string('x', SENSITIVE),
      secret: string(secret, more),
    })
    const { workspaceId, stateVersionId: first } = await createState(organization, textOf(outputs('s3cret')))
    const guess = await upload(workspaceId, { secret: string('guess') }, 2)
    const hit = await upload(workspaceId, { secret: string('s3cret') }, 3)
    const open = await upload(workspaceId, { open: string('b'), secret: string('s3cret') }, 4)
    const large = await upload(workspaceId, { ...many(String), ...outputs('s3cret') }, 5)
    const reveals = async (id: string) => {
      const found = await client.get(
        `/organizations/${organization.name}/audit-events?filter[action]=output.reveal&filter[resource-id]=${id}`,
      )
      return found.json.data.map(({ attributes }: { attributes: { details: object } }) => attributes.details)
    }
    for (const id of [guess, hit]) {
      expect((await changes(id, `since=${first}&page[number]=9`)).status).toBe(200)
      expect(await reveals(id)).toEqual([{ outputs: ['secret'], 'compared-with': first }])
    }
    // Asking again with the ETag compares again.
    const etag = (await changes(hit, `since=${first}`)).headers.get('etag') as string
    const again = await client.get(`/state-versions/${hit}/output-changes?since=${first}`, {
      'if-none-match': etag,
    })
    expect(again.status).toBe(304)
    expect(await reveals(hit)).toHaveLength(3)
    // Neither is sensitive, or only one version has it, or there is nothing to compare with.
    expect((await changes(open)).status).toBe(200)
    expect((await changes(open, `since=${guess}`)).status).toBe(200)
    expect((await changes(first)).status).toBe(200)
    expect([await reveals(open), await reveals(first)]).toEqual([[], []])
    expect((await changes(large, `since=${first}`)).status).toBe(200)
    expect(await reveals(large)).toEqual([{ outputs: ['other', 'secret'], 'compared-with': first }])
  })

  test('changes compare two large states in turn', async () => {
    const first = { ...many(String), large: string('a'.repeat(LARGE)), same: string('b'.repeat(LARGE)) }
    const { workspaceId, stateVersionId } = await createState(organization, textOf(first))
    await changes(stateVersionId)
    const second = await upload(
      workspaceId,
      { ...first, o0007: string('changed'), large: string(`${'a'.repeat(LARGE - 1)}b`) },
      2,
    )
    const answer = await changes(second)
    expect(attributes(answer).map(({ name }: { name: string }) => name)).toEqual(['large', 'o0007'])
    expect(attributes(answer)[0].before['value-text']).toHaveLength(PREVIEW_CHARACTERS)
    expect(answer.json.meta).toMatchObject({ added: 0, changed: 2, removed: 0 })
  })

  test('a version of another workspace, or without content, cannot be compared with', async () => {
    const { workspaceId, stateVersionId } = await createState(organization, textOf({ a: string('a') }))
    const other = await createState(organization, textOf({ a: string('a') }))
    const second = await upload(workspaceId, { a: string('b') }, 2)
    const refusals = [
      await changes(second, `since=${other.stateVersionId}`),
      await changes(second, 'since=sv-1111111111111111'),
      await changes(second, 'since=x'),
    ]
    await client.post(`/state-versions/${stateVersionId}/actions/soft_delete_backing_data`)
    refusals.push(await changes(second), await changes(second, `since=${stateVersionId}`))
    const [{ json }] = refusals as [Response]
    expect(refusals.map((one) => [one.status, one.json.errors])).toEqual(
      refusals.map(() => [400, json.errors]),
    )
    expect(json.errors[0].source).toEqual({ parameter: 'since' })
    expect((await changes(stateVersionId)).status).toBe(404)
    expect((await client.get(`/state-versions/${stateVersionId}/output-previews`)).status).toBe(404)
  })

  test('a workspace without a state has no outputs yet, which is no refusal', async () => {
    const workspaceId = await createWorkspace(organization)
    const plain = await addMember(server, organization)
    for (const reader of [client, plain.client]) {
      const answer = await reader.get(`/workspaces/${workspaceId}/current-output-previews?q=a`)
      expect([answer.status, answer.json.data, answer.json.meta.pagination['total-count']]).toEqual([
        200,
        [],
        0,
      ])
      // The documented list is 404 for its clients.
      expect((await reader.get(`/workspaces/${workspaceId}/current-state-version-outputs`)).status).toBe(404)
    }
  })

  test('a reader of outputs sees the versions and who stored them, and nothing of states', async () => {
    const { workspaceId, stateVersionId } = await createState(organization, textOf({ a: string('a') }))
    const storing = await createTeam(organization, { visibility: 'secret', name: uniqueName('hidden') })
    await grantWorkspace(organization, storing, workspaceId, { access: 'write' })
    const token = await client.post(`/teams/${storing}/authentication-token`)
    const pipeline = server.client(token.json.data.attributes.token)
    await lock(pipeline, workspaceId)
    const state = stateText(textOf({ a: string('b') }), 2)
    const second = await postState(pipeline, workspaceId, state, { state: base64(state) })
    const pending = await postState(pipeline, workspaceId, stateText('{}', 3))
    expect([second.status, pending.status]).toEqual([201, 201])
    const team = await createTeam(organization)
    const access = { access: 'custom', 'state-versions': 'read-outputs' }
    await grantWorkspace(organization, team, workspaceId, access)
    const reader = await addMember(server, organization, [team])
    const path = `/workspaces/${workspaceId}/output-versions`
    const seen = await reader.client.get(path)
    expect(seen.json.data).toEqual([
      {
        id: second.json.data.id,
        type: 'output-versions',
        attributes: {
          serial: 2,
          'created-at': second.json.data.attributes['created-at'],
          'created-by-name': null,
          status: 'finalized',
          'outputs-unreadable-reason': null,
        },
      },
      expect.objectContaining({
        id: stateVersionId,
        attributes: expect.objectContaining({ 'created-by-name': organization.owner.username }),
      }),
    ])
    // Who may read states sees the upload that is still pending, too.
    const owners = (await client.get(path)).json.data
    expect(owners.map(({ attributes: { status } }: { attributes: { status: string } }) => status)).toEqual([
      'pending',
      'finalized',
      'finalized',
    ])
    expect(owners[0].attributes['created-by-name']).toMatch(/^hidden/)
    // With the ids they compare, and still download nothing.
    expect((await changes(second.json.data.id)).json.meta.changed).toBe(1)
    expect((await reader.client.get(`/state-versions/${stateVersionId}/output-changes`)).status).toBe(200)
    for (const hidden of ['', '/download']) {
      expect((await reader.client.get(`/state-versions/${stateVersionId}${hidden}`)).status).toBe(404)
    }
    const plain = await addMember(server, organization)
    expect((await plain.client.get(path)).status).toBe(404)
    const of = async (asked: Client) =>
      (await processed(asked, `/workspaces/${workspaceId}/current-output-previews`)).json.data[0]
        .relationships
    expect(await of(reader.client)).toEqual({
      'state-version': { data: { type: 'state-versions', id: second.json.data.id } },
    })
    expect(await of(plain.client)).toEqual({ 'state-version': { data: null } })
  })

  test('somebody who has left the organization is not named', async () => {
    const { workspaceId } = await createState(organization, textOf({ a: string('a') }))
    const team = await createTeam(organization)
    await grantWorkspace(organization, team, workspaceId, { access: 'write' })
    const member = await addMember(server, organization, [team])
    await lock(member.client, workspaceId)
    const state = stateText('{}', 2)
    expect((await postState(member.client, workspaceId, state, { state: base64(state) })).status).toBe(201)
    const creator = async () =>
      (await client.get(`/workspaces/${workspaceId}/output-versions`)).json.data[0].attributes[
        'created-by-name'
      ]
    expect(await creator()).toBe(member.username)
    await client.delete(`/organization-memberships/${member.membershipId}`)
    expect(await creator()).toBeNull()
  })
})
