import * as fc from 'fast-check'
import type { Schema } from '../../src/openapi/schemas.ts'

const longText = fc.integer({ min: 91, max: 70_000 }).map((length) => 'x'.repeat(length))

/** Texts that often break programs: NUL, lone surrogates, names of prototypes, SQL, long texts. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udc00x',
    '\uFEFF',
    '__proto__',
    'constructor',
    'toString',
    "'; drop table teams; --",
    '%',
    '_',
    '\\',
    '"',
    '../../etc/passwd',
    'é\u0301',
    '\u{1F600}',
    'api-team_x',
    'owners',
    'null',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  { arbitrary: longText, weight: 1 },
)

/** Invalid JSON, and valid JSON that may surprise a parser. */
const hostileJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '{',
    '[',
    '"',
    'nul',
    'NaN',
    '1e999',
    '-0',
    '1'.repeat(400),
    '{"data":1e400}',
    '{"data":{}}{}',
    '{"data":null}',
    '{"data":[]}',
    '{"data":{"type":null,"attributes":null,"relationships":null}}',
    '{"data":{"attributes":[],"relationships":[]}}',
    '{"__proto__":{"data":{}},"data":{"__proto__":{"type":"teams"}}}',
    '{"data":{"type":"teams","type":"users"}}',
    '\uFEFF{"data":{}}',
    "{'data':1}",
    '{"data":{"attributes":{"name":"\\u0000\\ud800"}}}',
  ),
  fc.constantFrom(100, 10_000, 100_000).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.constantFrom(100, 10_000).map((depth) => `${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.integer({ min: 1, max: 20_000 }).map((count) => `{"data":[${'{},'.repeat(count)}{}]}`),
)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 1e300, 2 ** 53, [], {}, [[]], [null], { a: { b: 1 } }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** Ids of existing objects by type, to build relationships with. */
export type Objects = Readonly<Record<string, readonly string[]>>

/** Mostly values that match the schema. `objects` has the ids for identifiers. */
export function valueOf(schema: Schema, objects: Objects): fc.Arbitrary<unknown> {
  const { anyOf, type, enum: words } = schema as { anyOf?: Schema[]; type?: unknown; enum?: unknown[] }
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => valueOf(one, objects)))
  if ('const' in schema) return fc.constant(schema.const)
  if (words !== undefined) return fc.constantFrom(...words)
  if (type === 'object') return objectOf(schema, objects)
  if (type === 'array') {
    return fc.array(valueOf((schema.items as Schema | undefined) ?? {}, objects), { maxLength: 4 })
  }
  if (type === 'string') return textOf(schema)
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'integer' || type === 'number') {
    return fc.oneof(fc.nat(1_000), fc.constantFrom(-1, 2 ** 31, 2 ** 53, 2 ** 53 + 2, 1e20))
  }
  return hostileValue
}

function objectOf(schema: Schema, objects: Objects): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const ids = objects[String(properties.type?.const)]
  const members = Object.entries(properties).map(
    ([name, inner]) =>
      [
        name,
        name === 'id' && ids !== undefined && ids.length > 0
          ? fc.oneof({ arbitrary: fc.constantFrom(...ids), weight: 9 }, hostileText)
          : valueOf(inner, objects),
      ] as const,
  )
  const required = (schema.required ?? []) as string[]
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true })
}

const names = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/)
const times = fc.constantFrom('2031-01-01T00:00:00Z', '2031-01-01', '1999-12-31T23:59:60Z', '+275760-09-13')

function textOf(schema: Schema): fc.Arbitrary<unknown> {
  const base64 = fc.base64String({ maxLength: 40 })
  if (schema.pattern !== undefined) return fc.oneof({ arbitrary: names, weight: 9 }, hostileText)
  return fc.oneof({ arbitrary: names, weight: 6 }, times, base64, fc.emailAddress(), hostileText)
}

/** Request bodies as text. Most match the schema, many have one part replaced. */
export function bodyOf(schema: Schema | undefined, objects: Objects): fc.Arbitrary<string> {
  const document = schema === undefined ? fc.constant({}) : valueOf(schema, objects)
  const broken = fc.tuple(document, fc.nat(30), fc.oneof(hostileValue, fc.constant(undefined)))
  return fc.oneof(
    { arbitrary: document.map((value) => JSON.stringify(value)), weight: 6 },
    {
      arbitrary: broken.map(([value, place, other]) => JSON.stringify(replaced(value, place, other))),
      weight: 6,
    },
    {
      arbitrary: fc.tuple(document, fc.nat(500)).map(([value, end]) => JSON.stringify(value).slice(0, end)),
      weight: 1,
    },
    { arbitrary: hostileJson, weight: 2 },
  )
}

/** Copies a value and replaces one member, counted through all levels. `undefined` removes the member. */
function replaced(value: unknown, place: number, other: unknown): unknown {
  let left = place
  const visit = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    const entries = Object.entries(one).map(([key, inner]): [string, unknown] => [
      key,
      left-- === 0 ? other : visit(inner),
    ])
    return Array.isArray(one) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries)
  }
  return visit(value) ?? null
}
