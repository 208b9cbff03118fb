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
import { expect, test } from 'vitest'
import { readRecords, type Column } from '../src/database/record-text.ts'
import { onPostgres } from './support/on-each-engine.ts'
import { runs } from './support/runs.ts'

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

onPostgres('the text of records', (_server, query) => {
  test('is read as the rows that PostgreSQL wrote', async () => {
    await assert(
      asyncProperty(array(row, { maxLength: 5 }), async (rows) => {
        const { rows: answers } = await query(
          `select string_agg(row(step.*)::text, '' order by place) as records
           from unnest($1::text[], $2::bigint[], $3::boolean[], $4::bytea[], $5::text[])
             with ordinality as given(a, b, c, d, e, place),
             lateral (select a, b, c, d, e) as step`,
          columns.map(({ name }) => rows.map((each) => each[name as keyof typeof each])),
        )
        expect(readRecords(answers[0].records ?? '', columns)).toEqual(rows)
      }),
      runs(300, 10_000),
    )
  })
})

test.each(['(1', '("a', '(', '(a,b'])('that is cut off is an error: %s', (cut) => {
  expect(() => readRecords(cut, columns)).toThrow('incomplete record')
})
