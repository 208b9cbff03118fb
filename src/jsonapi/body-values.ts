import { isJsonObject } from '../core/json-object.ts'
import type { TSchema, Static } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import type { Problem } from '../core/errors.ts'

/** A schema with its own error text: `explain` ("must be …"), or `complaint`, a whole sentence that clients know. */
export type Explained = TSchema & { explain?: string; complaint?: string }
export type Shape = Record<string, Explained>
/** The values that pass the schemas, by name. */
export type ValuesOf<S extends Shape> = { [N in keyof S]: Static<S[N]> }
export const MAX_PROBLEMS = 100

/** The parts of a schema that lead to the schemas in it. */
function partsOf(schema: TSchema): { properties?: Shape; items?: Explained; anyOf?: TSchema[] } {
  return schema
}

/** The members that a schema names, if it is one of objects. */
export function propertiesOf(schema: TSchema): Shape | undefined {
  const { properties, anyOf } = partsOf(schema)
  return properties ?? anyOf?.map((one) => partsOf(one).properties).find(Boolean)
}

/** Drops members that no schema names, so that they reach neither the database nor the audit trail. */
export function onlyKnown(schema: TSchema, value: unknown): unknown {
  const { items } = partsOf(schema)
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => onlyKnown(items, item))
  if (!isJsonObject(value)) return value
  const known = propertiesOf(schema)
  if (known === undefined) return value
  return Object.fromEntries(
    Object.entries(known)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, inner]) => [name, onlyKnown(inner, value[name])]),
  )
}

const validators = new WeakMap<TSchema, Validator>()

/** Whether the value passes the schema. Adds what is wrong to `problems`. */
export function checkValue(
  name: string,
  schema: Explained,
  value: unknown,
  pointer: string,
  problems: Problem[],
): boolean {
  let validator = validators.get(schema)
  if (validator === undefined) validators.set(schema, (validator = Compile(schema)))
  if (validator.Check(value)) return true
  if (schema.explain !== undefined || schema.complaint !== undefined) {
    problems.push({ detail: schema.complaint ?? `${name} ${schema.explain}`, pointer })
    return false
  }
  const seen = new Set<string>()
  const [, errors] = validator.Errors(value)
  for (const { instancePath, message } of errors) {
    const explained = explainedOn(schema, instancePath)
    const place = explained?.place ?? instancePath
    // The first message for a place is the most specific one; unions repeat themselves.
    if (seen.has(place) || seen.size >= MAX_PROBLEMS) continue
    seen.add(place)
    problems.push({
      detail: `${name}${place.replaceAll('/', '.')} ${explained?.explain ?? plainWords[message] ?? message}`,
      pointer: pointer + place,
    })
  }
  return false
}

/** Replaces the validator's wording for frequent mistakes. */
const plainWords: Readonly<Record<string, string>> = {
  'must be array': 'must be a list',
  'must be boolean': 'must be true or false',
  'must be integer': 'must be a whole number',
  'must be object': 'must be an object',
  'must be string': 'must be a text',
}

/** The first place on the path to a member whose schema has its own text. */
function explainedOn(schema: Explained, path: string): { place: string; explain: string } | undefined {
  let inner: Explained | undefined = schema
  let place = ''
  for (const step of path.split('/').slice(1)) {
    const { properties, items } = partsOf(inner)
    inner = properties?.[step] ?? items
    if (inner === undefined) return undefined
    place += `/${step}`
    if (inner.explain !== undefined) return { place, explain: inner.explain }
  }
  return undefined
}
