import { IsOptional, type TSchema } from 'typebox'
import type { AcceptedBody } from '../jsonapi/body.ts'
import type { ResourceDescription } from '../jsonapi/description.ts'

/** A JSON Schema (2020-12), ready to be printed. */
export type Schema = { [member: string]: unknown }

export const reference = (type: string): Schema => ({ $ref: `#/components/schemas/${type}` })

const object = (
  properties: Record<string, Schema>,
  required: readonly string[] = Object.keys(properties),
) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** A typebox schema as plain JSON Schema, with our `explain` as its description. */
export function plain(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('explain' in value)) return value
    const { explain, ...rest } = value
    return typeof explain === 'string' ? { ...rest, description: explain } : value
  }) as Schema
}

function members(schemas: Readonly<Record<string, TSchema>>): Schema {
  return object(
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)])),
    Object.keys(schemas).filter((name) => !IsOptional(schemas[name] as TSchema)),
  )
}

/** A resource as answers hold it: with every attribute and no other. */
export function resourceSchema(description: ResourceDescription): Schema {
  const { type, attributes, relationships, links, hasLinks } = description
  const properties = {
    id: { type: 'string' },
    type: { const: type },
    attributes: members(attributes),
    ...(relationships === undefined ? {} : { relationships: members(relationships) }),
    ...(links === undefined ? {} : { links: members(links) }),
  }
  const required = Object.keys(properties).filter((name) => name !== 'links' || hasLinks === undefined)
  return object(properties, required)
}

const nullableLink = { type: ['string', 'null'] }
const nullableCount = { type: ['integer', 'null'] }

const pagination = {
  'current-page': { type: 'integer' },
  'page-size': { type: 'integer' },
  'prev-page': nullableCount,
  'next-page': nullableCount,
  'total-pages': { type: 'integer' },
  'total-count': { type: 'integer' },
}

/** The schemas that belong to no type. */
export const sharedSchemas: Record<string, Schema> = {
  errors: object({
    errors: {
      type: 'array',
      minItems: 1,
      items: object(
        {
          status: { type: 'string', pattern: '^[45]\\d\\d$' },
          title: { type: 'string' },
          detail: { type: 'string' },
          source: object({ pointer: { type: 'string' }, parameter: { type: 'string' } }, []),
        },
        ['status', 'title'],
      ),
    },
  }),
  'page-links': object({
    self: { type: 'string' },
    first: { type: 'string' },
    prev: nullableLink,
    next: nullableLink,
    last: { type: 'string' },
  }),
  pagination: object(pagination),
}

/** What a route's document looks like: one resource, a page of them (which may stand in meta twice) or, unpaged, all. */
export function documentSchema(
  type: string,
  form: 'one' | 'page' | 'page in meta' | 'all',
  included: readonly string[],
): Schema {
  const data = reference(type)
  const meta = { pagination: reference('pagination'), ...(form === 'page in meta' ? pagination : {}) }
  const paging = { links: reference('page-links'), meta: object(meta) }
  const properties = {
    data: form === 'one' ? data : { type: 'array', items: data },
    included: { type: 'array', items: { anyOf: included.map(reference) } },
    ...(form.startsWith('page') ? paging : {}),
  }
  return object(
    properties,
    Object.keys(properties).filter((name) => name !== 'included'),
  )
}

/** What a request's body may hold. Members that are not named are ignored. */
export function bodySchema(body: AcceptedBody): Schema {
  const data = dataSchema(body)
  const isLenient = 'isLenient' in body && body.isLenient === true
  return { type: 'object', properties: { data }, required: isLenient ? [] : ['data'] }
}

function dataSchema(body: AcceptedBody): Schema {
  if ('identifiers' in body) return identifiersSchema(body.identifiers)
  return 'items' in body ? { type: 'array', items: itemSchema(body.items) } : requestedResource(body)
}

function itemSchema(members: Record<string, TSchema>): Schema {
  const properties = Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, plain(schema)]),
  )
  return { type: 'object', properties, required: Object.keys(members) }
}

function identifiersSchema(type: string): Schema {
  const item = {
    type: 'object',
    properties: { type: { const: type }, id: { type: 'string' } },
    required: ['type', 'id'],
  }
  return { type: 'array', items: item }
}

function requestedResource(
  body: Exclude<AcceptedBody, { identifiers: string } | { items: unknown }>,
): Schema {
  const part = (schemas: Record<string, TSchema> = {}, required: readonly string[] = []) => ({
    type: 'object',
    properties: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)])),
    required,
  })
  const needed = (names: readonly string[] | undefined, part: string) => (names?.length ? [part] : [])
  return {
    type: 'object',
    properties: {
      type: body.isLenient ? { enum: [body.type, ''] } : { const: body.type },
      id: { type: 'string' },
      attributes: part(body.attributes, body.required),
      relationships: part(body.relationships, body.requiredRelationships),
    },
    required: [
      ...(body.isLenient ? [] : ['type']),
      ...needed(body.required, 'attributes'),
      ...needed(body.requiredRelationships, 'relationships'),
    ],
  }
}
