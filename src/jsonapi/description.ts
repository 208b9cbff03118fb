import { Type, type TSchema } from 'typebox'

/**
 * What the documents of a type hold, said beside their only maker and read off into the OpenAPI document. An attribute that
 * is not in every document is `Type.Optional`; tests hold every answer against it.
 */
export type ResourceDescription = {
  readonly type: string
  readonly attributes: Readonly<Record<string, TSchema>>
  readonly relationships?: Readonly<Record<string, TSchema>>
  readonly links?: Readonly<Record<string, TSchema>>
  /** Some documents of the type have no links. */
  readonly hasLinks?: 'sometimes'
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
      types.length === 1 ? Type.Literal(types[0] as string) : Type.Union(types.map((t) => Type.Literal(t))),
  })

const relationship = (data: TSchema): TSchema =>
  Type.Object({ data, links: Type.Optional(Type.Object({})), meta: Type.Optional(Type.Object({})) }, CLOSED)

/** A relationship to one resource, of one of the types. */
export function relationOne(...types: string[]): TSchema {
  return relationship(identifier(types))
}

/** The same, or to none. */
export function relationMaybe(...types: string[]): TSchema {
  return relationship(nullable(identifier(types)))
}

export function relationMany(type: string): TSchema {
  return relationship(Type.Array(identifier([type])))
}

/** One that only says where to look. */
export const relationLink: TSchema = Type.Object({ links: closedObject({ related: Type.String() }) }, CLOSED)

/** Of attributes that are the same in every document. */
export function schemasOfValues(values: Readonly<Record<string, unknown>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, schemaOfValue(value)]))
}

function schemaOfValue(value: unknown): TSchema {
  if (value === null) return Type.Null()
  if (typeof value === 'boolean') return Type.Boolean()
  return typeof value === 'number' ? Type.Integer() : Type.String()
}

/** The same, or only where to find it: a document that would be too large names its parts when they are asked for. */
export function relationManyOrLink(type: string): TSchema {
  return closedObject({
    data: Type.Optional(Type.Array(identifier([type]))),
    links: Type.Optional(closedObject({ related: Type.String() })),
  })
}
