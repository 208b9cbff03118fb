import { isJsonObject } from '../core/json-object.ts'
import { IsOptional, type TSchema } from 'typebox'
import type { AcceptedBody } from '../jsonapi/body.ts'
import { idPrefixes } from '../core/ids.ts'
import type { ResourceDescription } from '../jsonapi/description.ts'

/** A JSON Schema (2020-12) that is ready for JSON.stringify. */
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

/**
 * Converts a typebox schema to plain JSON Schema. `explain` or `complaint` becomes the description. Uses the forms that
 * client generators understand: an enumeration for a union of words, and a list of types for a nullable value.
 */
export function plain(schema: TSchema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    isJsonObject(value) ? forGenerators(value) : value,
  )
}

function forGenerators({ explain, complaint, ...schema }: Schema): Schema {
  const words = explain ?? complaint
  const described = typeof words === 'string' ? { ...schema, description: words } : schema
  const { const: word, anyOf, ...rest } = described
  if (typeof word === 'string') return { ...rest, type: 'string', enum: [word] }
  // Always null. Client generators do not support a type that is only null.
  if (rest.type === 'null') return { ...rest, type: ['string', 'null'], maxLength: 0 }
  return Array.isArray(anyOf) ? (oneForAll(anyOf.filter(isJsonObject), rest) ?? described) : described
}

/** One schema instead of a union of words, or of a union of something with null. */
function oneForAll(union: readonly Schema[], rest: Schema): Schema | undefined {
  const isNull = ({ type, maxLength }: Schema) => Array.isArray(type) && maxLength === 0
  const hasNull = union.some(isNull)
  // `{}` as another form of null is only for existing clients. New clients need not send it.
  const isEmpty = ({ properties }: Schema) => isJsonObject(properties) && Object.keys(properties).length === 0
  const others = union.filter((one) => !isNull(one) && !(hasNull && isEmpty(one)))
  const [first] = others
  const words = others.map(({ type, enum: values }) =>
    type === 'string' && Array.isArray(values) ? values : undefined,
  )
  const enumeration = words.every((values) => values !== undefined)
    ? { type: 'string', enum: words.flat() }
    : undefined
  const single = enumeration ?? (others.length === 1 ? first : undefined)
  if (single === undefined || typeof single.type !== 'string') return undefined
  if (!hasNull) return { ...rest, ...single }
  const nullable = { ...rest, ...single, type: [single.type, 'null'] }
  return Array.isArray(single.enum) ? { ...nullable, enum: [...single.enum, null] } : nullable
}

function members(schemas: Readonly<Record<string, TSchema>>, isSparse = false): Schema {
  const names = Object.keys(schemas)
  // In generated classes, the second spelling would be the same member.
  const twins = names.filter((name) => names.includes(name.replaceAll('_', '-')) && name.includes('_'))
  const firsts = Object.entries(schemas).filter(([name]) => !twins.includes(name))
  const seconds = Object.entries(schemas).filter(([name]) => twins.includes(name))
  const properties = Object.fromEntries(firsts.map(([name, schema]) => [name, plain(schema)]))
  const required = firsts.flatMap(([name, schema]) => (isSparse || IsOptional(schema) ? [] : [name]))
  if (seconds.length === 0) return object(properties, required)
  const patternProperties = Object.fromEntries(seconds.map(([name, schema]) => [`^${name}$`, plain(schema)]))
  return { ...object(properties, required), patternProperties }
}

const oneWord = (word: string): Schema => ({ type: 'string', enum: [word] })

/** A resource in an answer: all attributes are required unless a request may choose them, others are not allowed. */
export function resourceSchema(description: ResourceDescription): Schema {
  const { type, attributes, relationships, links, hasLinks, isSparse } = description
  const properties = {
    id: idSchema(type),
    type: oneWord(type),
    attributes: members(attributes, isSparse),
    ...(relationships === undefined ? {} : { relationships: members(relationships, isSparse) }),
    ...(links === undefined ? {} : { links: members(links) }),
  }
  const required = Object.keys(properties).filter((name) => name !== 'links' || hasLinks === undefined)
  return object(properties, required)
}

const idOf = (prefixes: string): Schema => ({
  type: 'string',
  pattern: `^(${prefixes})-[1-9A-HJ-NP-Za-km-z]{16}$`,
  maxLength: 100,
})
const nameSchema: Schema = { type: 'string', pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength: 90 }

/** The patterns of ids per type. An organization's id is its name. */
const idSchemas: Readonly<Record<string, Schema>> = {
  organizations: nameSchema,
  // A team's service account and an organization token act as users, too.
  users: { type: 'string', pattern: '^(user-|api-team_|api-org_)[1-9A-HJ-NP-Za-km-z]{16}$', maxLength: 100 },
  teams: idOf(idPrefixes.team),
  'organization-memberships': idOf(idPrefixes.membership),
  'authentication-tokens': idOf(idPrefixes.token),
  projects: idOf(idPrefixes.project),
  workspaces: idOf(idPrefixes.workspace),
  'team-workspaces': idOf(idPrefixes.teamWorkspace),
  'team-projects': idOf(idPrefixes.teamProject),
  'state-versions': idOf(idPrefixes.stateVersion),
  'state-version-outputs': idOf(idPrefixes.output),
  'workspace-outputs': idOf(idPrefixes.output),
  tags: idOf(idPrefixes.tag),
  'tag-bindings': idOf(idPrefixes.tagBinding),
}

function idSchema(type: string): Schema {
  return idSchemas[type] ?? { type: 'string', minLength: 1, maxLength: 200 }
}

/** The schema of a path parameter: `team_id` is the id of a team. */
export function pathParameterSchema(name: string): Schema {
  if (name.endsWith('_name')) return nameSchema
  const plural = `${name.replace(/_id$/, '').replaceAll('_', '-')}s`
  const type = { tokens: 'authentication-tokens' }[plural] ?? plural
  return idSchemas[type] ?? { type: 'string', minLength: 1, maxLength: 500 }
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

/** The schemas that belong to no resource type. */
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
          code: { type: 'string' },
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

/** A list of words: a page with these numbers in its meta. */
export type DocumentForm = 'one' | 'page' | 'page in meta' | readonly string[]

/** The name of the schema of such documents. */
export function documentName(type: string, form: DocumentForm): string {
  return `${type}-${form === 'one' ? 'document' : 'page'}`
}

/** Something that a write ignored, or did not do. */
const warning = object({
  detail: { type: 'string' },
  source: object({ pointer: { type: 'string' } }),
})

/**
 * The document of a route: one resource, or a page. "page in meta" repeats the page numbers directly in meta.
 *
 * @param mayWarn the route reads a body that gives access, see `ignored` in jsonapi/body.ts
 */
export function documentSchema(type: string, form: DocumentForm, mayWarn = false): Schema {
  const data = reference(type)
  const counts = typeof form === 'string' ? [] : form.map((name) => [name, { type: 'integer' }])
  const more = form === 'page in meta' ? pagination : Object.fromEntries(counts)
  const meta = { pagination: reference('pagination'), ...more }
  const paging = { links: reference('page-links'), meta: object(meta) }
  const properties = {
    data: form === 'one' ? data : { type: 'array', items: data },
    included: { type: 'array', items: reference('included-resource') },
    ...(form === 'one' ? {} : paging),
    ...(mayWarn ? { meta: object({ warnings: { type: 'array', items: warning } }) } : {}),
  }
  const optional = mayWarn ? ['included', 'meta'] : ['included']
  return object(
    properties,
    Object.keys(properties).filter((name) => !optional.includes(name)),
  )
}

/** The body that a request may send. Unknown members are ignored. */
export function bodySchema(body: AcceptedBody): Schema {
  const data = dataSchema(body)
  const isLenient = 'isLenient' in body && body.isLenient === true
  // Clients also send null if no value is needed.
  const type = isLenient ? ['object', 'null'] : 'object'
  return { type, properties: { data }, required: isLenient ? [] : ['data'] }
}

function dataSchema(body: AcceptedBody): Schema {
  if ('identifiers' in body) return identifiersSchema(body.identifiers)
  return 'items' in body ? { type: 'array', items: plain(body.items) } : requestedResource(body)
}

function identifiersSchema(type: string): Schema {
  const item = {
    type: 'object',
    properties: { type: oneWord(type), id: { type: 'string', minLength: 1 } },
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
  const types = [body.type, ...(body.otherTypes ?? []), ...(body.isLenient ? [''] : [])]
  return {
    type: 'object',
    properties: {
      type: { type: 'string', enum: types },
      // An update accepts only the id of the path. A create ignores it.
      id: {},
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
