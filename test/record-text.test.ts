import { randomUUID } from 'node:crypto'
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constantFrom,
  maxSafeInteger,
  oneof,
  option,
  record,
  string,
  uint8Array,
} from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { readRecords, type Column } from '../src/database/record-text.ts'
import { onPostgres } from './support/on-each-engine.ts'
import { runs } from './support/runs.ts'
import { startNode } from './support/server.ts'
import { createState } from './support/states.ts'
import { body, createTeam, createTestOrganization, createWorkspace } from './support/world.ts'

const columns: Column[] = [
  { name: 'text', type: 'text' },
  { name: 'number', type: 'number' },
  { name: 'boolean', type: 'boolean' },
  { name: 'bytes', type: 'bytes' },
  { name: 'last', type: 'text' },
]

/** PostgreSQL has no texts with NUL or half a character. */
const text = oneof(
  string({ unit: 'grapheme' }).filter((value) => !value.includes('\0')),
  string({ unit: constantFrom('"', '\\', ',', '(', ')', ' ', '\n', 'a', '""', '\\\\') }),
)
const row = record({
  text: option(text),
  number: option(maxSafeInteger()),
  boolean: option(boolean()),
  bytes: option(uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes))),
  last: option(text),
})

onPostgres('the text of records', (server, query) => {
  test('is read as the rows that PostgreSQL wrote', async () => {
    await assert(
      asyncProperty(array(row, { maxLength: 5 }), async (rows) => {
        const { rows: answers } = await query(
          `select string_agg(row(step.*)::text, '' order by place) as records
           from unnest($1::text[], $2::bigint[], $3::boolean[], $4::bytea[], $5::text[])
             with ordinality as given(a, b, c, d, e, place),
             lateral (select a, b, c, encode(d, 'hex'), e) as step`,
          columns.map(({ name }) => rows.map((each) => each[name as keyof typeof each])),
        )
        expect(readRecords(answers[0].records ?? '', columns)).toEqual(rows)
      }),
      runs(300, 10_000),
    )
  })

  test('of a column that a newer release drops is not missed', async () => {
    await query('alter table teams add column unused text')
    const node = await startNode(server)
    onTestFinished(() => node.stop())
    const organization = await createTestOrganization(node)
    const { client } = organization.owner
    const [one, two] = [
      await createTeam(organization, { name: 'one' }),
      await createTeam(organization, { name: 'two' }),
    ]
    const statuses = async () => {
      const answers = [
        await client.get(`/teams/${one}`),
        await client.get(`/teams/${two}`),
        await client.patch(`/teams/${one}`, body('teams', { 'sso-team-id': randomUUID() })),
        await client.get(`/teams/${one}`),
        await createTeam(organization, { name: randomUUID() }).then((id) => client.get(`/teams/${id}`)),
      ]
      return answers.map(({ status }) => status)
    }
    for (let time = 1; time <= 3; time += 1) expect(await statuses()).toEqual([200, 200, 200, 200, 200])
    await query('alter table teams drop column unused')
    for (let time = 1; time <= 3; time += 1) expect(await statuses()).toEqual([200, 200, 200, 200, 200])
  })

  test('has the same bytes whatever the database writes bytes as', async () => {
    const organization = await createTestOrganization(server)
    const workspaceId = await createWorkspace(organization, {})
    await createState(
      organization,
      '{"secret": {"value": "s3cret", "type": "string", "sensitive": true}}',
      workspaceId,
    )
    await query(`do $$ begin
      execute format('alter database %I set bytea_output = escape', current_database());
    end $$`)
    const node = await startNode(server)
    onTestFinished(() => node.stop())
    const client = node.client(organization.owner.client.token)
    const list = await client.get(`/workspaces/${workspaceId}/current-state-version-outputs`)
    for (let time = 1; time <= 3; time += 1) {
      const shown = await client.get(`/state-version-outputs/${list.json.data[0].id}`)
      expect(shown.json.data.attributes.value).toBe('s3cret')
    }
  })
})

test.each(['(1', '("a', '(', '(a,b'])('a record that is cut off is an error: %s', (cut) => {
  expect(() => readRecords(cut, columns)).toThrow('incomplete record')
})

test('a record of one column is null, empty or a number', () => {
  const read = (text: string, type: Column['type']) => readRecords(text, [{ name: 'only', type }])
  expect(read('()', 'text')).toEqual([{ only: null }])
  expect(read('("")', 'text')).toEqual([{ only: '' }])
  expect(read('(1)(2)', 'number')).toEqual([{ only: 1 }, { only: 2 }])
})
