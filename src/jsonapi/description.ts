import { existing } from '../core/existing.ts'
import { Type, type TSchema } from 'typebox'
import { fragment, type Fragment, type Resource } from './document.ts'

/**
 * The content of a type's documents. It is next to the function that makes them, and becomes part of the OpenAPI
 * document. An attribute that may be absent is `Type.Optional`; tests check every answer against this.
 */
export type ResourceDescription = {
  readonly type: string
  readonly attributes: Readonly<Record<string, TSchema>>
  readonly relationships?: Readonly<Record<string, TSchema>>
  readonly links?: Readonly<Record<string, TSchema>>
  /** Some documents of the type have no links. */
  readonly hasLinks?: 'sometimes'
  /** A request may ask for some attributes and relationships by `fields[type]`. */
  readonly isSparse?: boolean
}

/**
 * The attributes of a resource, in the order of its documents: the schema of each, and its value in a document of
 * `view`. A document does not have an attribute whose value is undefined.
 */
export type Fields<View> = Readonly<
  Record<string, readonly [schema: TSchema, value: (view: View) => unknown]>
>

/** The documents of a type, each made of a `view`. */
type ResourceType<View> = Pick<ResourceDescription, 'type' | 'relationships' | 'isSparse'> & {
  readonly id: (view: View) => string
  readonly attributes: Fields<View>
  /** The values of `relationships`. A document does not have one that is undefined. */
  readonly related?: (view: View) => Resource['relationships']
  /** The path of the link `self`. */
  readonly self?: (view: View) => string
}

/** The description of a type, and the only functions that make its resources. */
export function resourceType<View>(definition: ResourceType<View>) {
  const { type, id, attributes, relationships, related, self, isSparse } = definition
  const links = self && { self: Type.String() }
  const description: ResourceDescription = {
    type,
    attributes: schemasIn(attributes),
    relationships,
    links,
    isSparse,
  }
  const resource = (view: View): Resource => ({
    id: id(view),
    type,
    attributes: valuesIn(attributes, view),
    relationships: related?.(view),
    links: self && { self: self(view) },
  })
  return { description, resource, fragment: (view: View): Fragment => fragment(resource(view)) }
}

export function schemasIn(fields: Fields<never>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, [schema]]) => [name, schema]))
}

export function valuesIn<View>(fields: Fields<View>, view: View): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const name in fields) values[name] = fields[name]?.[1](view)
  return values
}

/** The resource with only these attributes and relationships. All, if undefined. */
export function withFields(fields: ReadonlySet<string> | undefined, resource: Resource): Resource {
  if (fields === undefined) return resource
  const { attributes, relationships, ...rest } = resource
  const shown = (all: object | undefined) =>
    Object.fromEntries(Object.entries(all ?? {}).filter(([name]) => fields.has(name)))
  return { ...rest, attributes: shown(attributes), relationships: shown(relationships) }
}

export function nullable(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()])
}

export const timeSchema = Type.String({ format: 'date-time' })

const CLOSED = { additionalProperties: false }

/** An object with these members and no others. */
export function closedObject(members: Record<string, TSchema>): TSchema {
  return Type.Object(members, CLOSED)
}

export const flagObjectOf = (names: readonly string[]): TSchema =>
  Type.Partial(Type.Object(Object.fromEntries(names.map((name) => [name, Type.Boolean()]))), CLOSED)

const identifier = (types: readonly string[]): TSchema =>
  closedObject({
    id: Type.String(),
    type:
      types.length === 1 ? Type.Literal(existing(types[0])) : Type.Union(types.map((t) => Type.Literal(t))),
  })

const relationship = (data: TSchema): TSchema =>
  Type.Object({ data, links: Type.Optional(Type.Object({})), meta: Type.Optional(Type.Object({})) }, CLOSED)

/** A relationship to one resource of one of the types. */
export function relationOne(...types: string[]): TSchema {
  return relationship(identifier(types))
}

/** As `relationOne`, but may be null. */
export function relationMaybe(...types: string[]): TSchema {
  return relationship(nullable(identifier(types)))
}

export function relationMany(type: string): TSchema {
  return relationship(Type.Array(identifier([type])))
}

/** A relationship with only a link. */
export const relationLink: TSchema = Type.Object({ links: closedObject({ related: Type.String() }) }, CLOSED)

/** Schemas for attributes with the same values in every document. */
export function schemasOfValues(values: Readonly<Record<string, unknown>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, schemaOfValue(value)]))
}

function schemaOfValue(value: unknown): TSchema {
  if (value === null) return Type.Null()
  if (typeof value === 'boolean') return Type.Boolean()
  return typeof value === 'number' ? Type.Integer() : Type.String()
}

/** A relationship to many resources, or only a link to them if the document would be too large. */
export function relationManyOrLink(type: string): TSchema {
  return closedObject({
    data: Type.Optional(Type.Array(identifier([type]))),
    links: Type.Optional(closedObject({ related: Type.String() })),
  })
}
