import { Type, type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { AppError, type Problem } from '../core/errors.ts'
import { parseJson } from './json.ts'

/** A schema with its own error text: `explain` ("must be …"), or `complaint`, a whole sentence that clients know. */
export type Explained = TSchema & { explain?: string; complaint?: string }
type Shape = Record<string, Explained>
/** The members that the schemas of a shape accept. Each may be absent. */
type Values<S extends Shape> = { [N in keyof S]?: Static<S[N]> }

/** The allowed content of a request's document. */
export type BodyShape<A extends Shape, R extends Shape> = {
  type: string
  /** Other names of the type, which some clients send. */
  otherTypes?: readonly string[]
  attributes?: A
  /** Names of required attributes. */
  required?: readonly (keyof A & string)[]
  relationships?: R
  requiredRelationships?: readonly (keyof R & string)[]
  /** For actions: no body, `null` (terrasnek) and an absent or empty `data.type` (go-tfe sends `""`) are accepted. */
  isLenient?: boolean
}

/** A body in the API description: a resource of any shape, or a list. */
export type AcceptedBody =
  | (Omit<BodyShape<Shape, Shape>, 'required' | 'requiredRelationships'> & {
      required?: readonly string[]
      requiredRelationships?: readonly string[]
    })
  | { identifiers: string }
  /** A list of items that are identified only by their content. */
  | { items: TSchema }

export type ParsedBody<A extends Shape, R extends Shape> = {
  attributes: Values<A>
  relationships: Values<R>
  /** The id in the body, if there is one. */
  id: unknown
}

/** A text that must be one of `values`; the error message lists them. */
export function oneOf<const V extends string>(...values: V[]) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    { explain: `must be ${values.map((value) => `"${value}"`).join(' or ')}` },
  ) as unknown as ReturnType<typeof Type.Unsafe<V>> & { explain: string }
}

/** `{"data": {"type": …, "id": …}}`: a relationship to one resource. */
export function toOne<const T extends string>(type: T) {
  return Type.Object(
    { data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 100 }) }) },
    { explain: `must be {"data": {"type": "${type}", "id": …}}` },
  )
}

/** `{"data": [{"type": …, "id": …}, …]}`: a relationship to many resources. */
export function toMany<const T extends string>(type: T, most: number) {
  return Type.Object(
    {
      data: Type.Array(Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 100 }) }), {
        maxItems: most,
      }),
    },
    { explain: `must be {"data": [{"type": "${type}", "id": …}, …]}, at most ${most}` },
  )
}

/** Reads a resource document. Throws one error with all problems. Unknown members are ignored. */
export function parseResource<A extends Shape = {}, R extends Shape = {}>(
  bytes: Uint8Array,
  shape: BodyShape<A, R>,
  pathId?: string,
): ParsedBody<A, R> {
  const { problems, ...parsed } = readResource(bytes, shape, pathId)
  refuse(problems)
  return parsed
}

/** Throws one 422 with all problems; does nothing if there are none. */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AppError('invalid', problems.slice(0, MAX_PROBLEMS))
}

/**
 * As `refuse`, but adds the problem `taken` if another object has the name. `findHolder` returns the id of that object.
 * Without other problems it does nothing, because the insert or update will find a taken name.
 */
export async function refuseBesideTakenName(
  problems: readonly Problem[],
  taken: Problem,
  findHolder: () => Promise<string | undefined>,
  ownId?: string,
): Promise<void> {
  if (problems.length === 0) return
  const holder = await findHolder()
  refuse(holder === undefined || holder === ownId ? problems : [...problems, taken])
}

/** Awaits a check that may throw 422. In that case its problems are added to `problems` and it returns undefined. */
export async function orProblems<T>(problems: Problem[], check: Promise<T>): Promise<T | undefined> {
  try {
    return await check
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid') throw error
    problems.push(...error.problems)
    return undefined
  }
}

/**
 * As `parseResource`, but returns the problems, so that the route can add its own and refuse all together. Invalid
 * values are left out of the result. Throws only if the body is no resource document.
 */
export function readResource<A extends Shape = {}, R extends Shape = {}>(
  bytes: Uint8Array,
  shape: BodyShape<A, R>,
  pathId?: string,
): ParsedBody<A, R> & { problems: Problem[] } {
  const json = shape.isLenient ? (bytes.length === 0 ? {} : (parseJson(bytes) ?? {})) : parseJson(bytes)
  return readParsed(json, shape, pathId)
}

/** As `readResource`, for a document that is already parsed, at least its relevant members. */
export function readParsed<A extends Shape = {}, R extends Shape = {}>(
  json: unknown,
  shape: BodyShape<A, R>,
  pathId?: string,
): ParsedBody<A, R> & { problems: Problem[] } {
  const problems: Problem[] = []
  const isEmpty = shape.isLenient && isObject(json) && !('data' in json)
  const data = isEmpty ? {} : member(json, 'data')
  if (!isObject(data)) throw new AppError('invalid', [{ detail: 'data must be an object', pointer: '/data' }])

  const { type } = data
  const isKnown = type === shape.type || shape.otherTypes?.includes(type as string)
  if (!isKnown && !(shape.isLenient && (type === undefined || type === ''))) {
    problems.push({ detail: `type must be "${shape.type}"`, pointer: '/data/type' })
  }
  if (pathId !== undefined) problems.push(...otherId(data.id, pathId))
  const attributes = readShape(
    data.attributes,
    shape.attributes,
    shape.required,
    '/data/attributes',
    problems,
  )
  const relationships = readShape(
    data.relationships,
    shape.relationships,
    shape.requiredRelationships,
    '/data/relationships',
    problems,
  )
  return { attributes, relationships, id: data.id, problems } as ParsedBody<A, R> & { problems: Problem[] }
}

/**
 * The problem of a body whose id differs from the path's. If the path has a name instead of an id, call it after
 * loading.
 */
export function otherId(given: unknown, own: string): Problem[] {
  if (given === undefined || given === '' || given === own) return []
  return [{ detail: 'id must be that of the path', pointer: '/data/id' }]
}

/**
 * Reads `{"data": [{"type", "id"}, …]}`, the body of a write to a relationship. Returns the ids in order, with repeats.
 */
export function parseIdentifiers(bytes: Uint8Array, type: string, most: number): string[] {
  const data = member(parseJson(bytes), 'data')
  if (!Array.isArray(data))
    throw new AppError('invalid', [{ detail: 'data must be an array', pointer: '/data' }])
  if (data.length > most) {
    throw new AppError('invalid', [{ detail: `data may hold at most ${most} items`, pointer: '/data' }])
  }
  const problems: Problem[] = []
  const ids = data.map((item: unknown, place) => {
    const given = isObject(item) ? item : {}
    if (given.type !== type)
      problems.push({ detail: `type must be "${type}"`, pointer: `/data/${place}/type` })
    if (typeof given.id !== 'string' || given.id === '') {
      problems.push({ detail: 'id must be a text that is not empty', pointer: `/data/${place}/id` })
    }
    return String(given.id)
  })
  if (problems.length > 0) throw new AppError('invalid', problems.slice(0, MAX_PROBLEMS))
  return ids
}

const MAX_PROBLEMS = 100

function member(json: unknown, name: string): unknown {
  return isObject(json) && Object.hasOwn(json, name) ? json[name] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readShape(
  given: unknown,
  shape: Shape | undefined,
  required: readonly string[] = [],
  pointer: string,
  problems: Problem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (given !== undefined && !isObject(given)) {
    problems.push({ detail: `${pointer.slice(pointer.lastIndexOf('/') + 1)} must be an object`, pointer })
    return values
  }
  for (const [name, schema] of Object.entries(shape ?? {})) {
    const value = given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
    if (value !== undefined) {
      if (checkValue(name, schema, value, `${pointer}/${name}`, problems)) {
        values[name] = onlyKnown(schema, value)
      }
    } else if (required.includes(name)) {
      problems.push({ detail: `${name} is missing`, pointer: `${pointer}/${name}` })
    }
  }
  return values
}

/** Drops members that no schema names, so that they reach neither the database nor the audit trail. */
function onlyKnown(schema: TSchema, value: unknown): unknown {
  const { properties, items, anyOf } = schema as { properties?: Shape; items?: TSchema; anyOf?: TSchema[] }
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => onlyKnown(items, item))
  if (!isObject(value)) return value
  const known = properties ?? anyOf?.map((one) => (one as { properties?: Shape }).properties).find(Boolean)
  if (known === undefined) return value
  return Object.fromEntries(
    Object.entries(known)
      .filter(([name]) => Object.hasOwn(value, name))
      .map(([name, inner]) => [name, onlyKnown(inner, value[name])]),
  )
}

const validators = new WeakMap<TSchema, Validator>()

function checkValue(
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
    const { properties, items } = inner as { properties?: Shape; items?: Explained }
    inner = properties?.[step] ?? items
    if (inner === undefined) return undefined
    place += `/${step}`
    if (inner.explain !== undefined) return { place, explain: inner.explain }
  }
  return undefined
}
