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
import { createTestOrganization, createWorkspace } from './support/world.ts'

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

test.each(['(1', '("a', '(', '(a,b'])('that is cut off is an error: %s', (cut) => {
  expect(() => readRecords(cut, columns)).toThrow('incomplete record')
})
