import type { ResourceDescription } from '../../src/jsonapi/description.ts'
import { plain, type Schema } from '../../src/openapi/schemas.ts'

/**
 * The JSON types of an attribute, or of each member of an object. `time` is a text with a time. A text with few
 * possible values is listed as each value in quotes: `'secret'`.
 */
type Types = readonly string[] | { readonly [member: string]: Types }

export type PlatformFields = {
  attributes: Record<string, Types>
  /** To one, to many, or only a link. */
  relationships: Record<string, 'one' | 'many' | 'link'>
}

/** Attributes that the platform lacks or has with other JSON types: `type.attribute`, with the type. */
export function attributeDifferences(description: ResourceDescription, fields: PlatformFields): string[] {
  return Object.entries(description.attributes).flatMap(([name, schema]) =>
    differences(`${description.type}.${name}`, plain(schema), fields.attributes[name]),
  )
}

function differences(name: string, schema: Schema, types: Types | undefined): string[] {
  if (types === undefined) return [name]
  const ours = typesOf(schema)
  if (!isList(types)) {
    const members = Object.entries((objectIn(schema)?.properties ?? {}) as Record<string, Schema>)
    return members.flatMap(([member, inner]) => differences(`${name}.${member}`, inner, types[member]))
  }
  const isKnown = (type: string) =>
    types.includes('any') ||
    types.includes(type) ||
    (type === 'integer' && types.includes('number')) ||
    (isText(type) && types.includes('string'))
  return ours.filter((type) => !isKnown(type)).map((type) => `${name}: ${type}`)
}

const isText = (type: string) => type.startsWith("'")

/** Attributes of the platform that no document here has: `type.attribute`. */
export function absentAttributes(description: ResourceDescription, fields: PlatformFields): string[] {
  return absent(
    description.type,
    Object.fromEntries(Object.entries(description.attributes).map(([name, schema]) => [name, plain(schema)])),
    fields.attributes,
  )
}

function absent(name: string, ours: Record<string, Schema>, theirs: Record<string, Types>): string[] {
  return Object.entries(theirs).flatMap(([member, types]) => {
    const schema = ours[member]
    if (schema === undefined) return [`${name}.${member}`]
    if (isList(types)) return []
    const members = (objectIn(schema)?.properties ?? {}) as Record<string, Schema>
    return absent(`${name}.${member}`, members, types)
  })
}

function isList(types: Types): types is readonly string[] {
  return Array.isArray(types)
}

function alternatives(schema: Schema): Schema[] {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as Schema[]).flatMap(alternatives)
  if (!Array.isArray(schema.type)) return [schema]
  // The schemas write "always null" as a union of null and a text of length 0.
  const types = schema.maxLength === 0 ? ['null'] : (schema.type as string[])
  return types.map((type) => (type === 'null' ? { type } : { ...schema, type }))
}

function objectIn(schema: Schema): Schema | undefined {
  return alternatives(schema).find(({ type }) => type === 'object')
}

function typesOf(schema: Schema): string[] {
  const types = alternatives(schema).flatMap(({ type, format, ...rest }) => {
    if (Array.isArray(rest.enum)) return rest.enum.filter((word) => word !== null).map((word) => `'${word}'`)
    if ('const' in rest) return typeof rest.const
    if (format === 'date-time') return 'time'
    return typeof type === 'string' ? type : 'any'
  })
  return [...new Set(types)]
}

/** Relationships that the platform lacks or has with another cardinality. */
export function relationshipDifferences(
  { type, relationships }: ResourceDescription,
  fields: PlatformFields,
): string[] {
  return Object.entries(relationships ?? {})
    .filter(([name, schema]) => fields.relationships[name] !== cardinality(plain(schema)))
    .map(([name]) => `${type}.relationships.${name}`)
}

function cardinality(schema: Schema): string {
  const { data, links } = schema.properties as { data?: Schema; links?: Schema }
  if (data === undefined) return links === undefined ? 'none' : 'link'
  return data.type === 'array' ? 'many' : 'one'
}
