import { Type, type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { AppError, type Problem } from '../core/errors.ts'
import { parseJson } from './json.ts'

/** A schema whose refusal is said in `explain`'s words ("must be …"), or in a whole sentence that clients know. */
export type Explained = TSchema & { explain?: string; complaint?: string }
type Shape = Record<string, Explained>
/** The members that the schemas of a shape let through; each may be absent. */
type Values<S extends Shape> = { [N in keyof S]?: Static<S[N]> }

/** What a request's document may hold. */
export type BodyShape<A extends Shape, R extends Shape> = {
  type: string
  /** Other names of the type that clients send. */
  otherTypes?: readonly string[]
  attributes?: A
  /** Names of attributes that must be there. */
  required?: readonly (keyof A & string)[]
  relationships?: R
  requiredRelationships?: readonly (keyof R & string)[]
  /** For actions: there may be no body, or `null` (terrasnek), and `data.type` may be absent or empty (go-tfe sends `""`). */
  isLenient?: boolean
}

/** A body as the documentation describes it: a resource of any shape, or a list. */
export type AcceptedBody =
  | (Omit<BodyShape<Shape, Shape>, 'required' | 'requiredRelationships'> & {
      required?: readonly string[]
      requiredRelationships?: readonly string[]
    })
  | { identifiers: string }
  /** A list of things that are described by what they hold. */
  | { items: TSchema }

export type ParsedBody<A extends Shape, R extends Shape> = {
  attributes: Values<A>
  relationships: Values<R>
  /** As the body says it, if it does. */
  id: unknown
}

/** A text in one of the words; others are refused by naming them. */
export function oneOf<const V extends string>(...values: V[]) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    { explain: `must be ${values.map((value) => `"${value}"`).join(' or ')}` },
  ) as unknown as ReturnType<typeof Type.Unsafe<V>> & { explain: string }
}

/** `{"data": {"type": …, "id": …}}` of a relationship to one. */
export function toOne<const T extends string>(type: T) {
  return Type.Object(
    { data: Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 100 }) }) },
    { explain: `must be {"data": {"type": "${type}", "id": …}}` },
  )
}

/** `{"data": [{"type": …, "id": …}, …]}` of a relationship to many. */
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

/** Reads a resource document; throws one error that names every problem. Unknown members are ignored. */
export function parseResource<A extends Shape = {}, R extends Shape = {}>(
  bytes: Uint8Array,
  shape: BodyShape<A, R>,
  pathId?: string,
): ParsedBody<A, R> {
  const { problems, ...parsed } = readResource(bytes, shape, pathId)
  refuse(problems)
  return parsed
}

/** One 422 for all of them; nothing when there are none. */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AppError('invalid', problems.slice(0, MAX_PROBLEMS))
}

/**
 * The same, beside that of a name which is another's: `findHolder` gives the id of who has it. By itself that one shows when
 * the name is written.
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

/** What a check finds that may throw 422: its problems are added to the others, and then it gives nothing. */
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
 * The same for a route that finds more problems than the body alone shows, and refuses them together: what is wrong is
 * in `problems` and not among the values. Throws only for what is no resource document at all.
 */
export function readResource<A extends Shape = {}, R extends Shape = {}>(
  bytes: Uint8Array,
  shape: BodyShape<A, R>,
  pathId?: string,
): ParsedBody<A, R> & { problems: Problem[] } {
  const json = shape.isLenient ? (bytes.length === 0 ? {} : (parseJson(bytes) ?? {})) : parseJson(bytes)
  return readParsed(json, shape, pathId)
}

/** The same for a document that has been parsed, or at least what counts of it. */
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
 * The problem of a body that is about another thing than the path, if it says so. Where the path has a name instead of an
 * id, only what was found by it shows that.
 */
export function otherId(given: unknown, own: string): Problem[] {
  if (given === undefined || given === '' || given === own) return []
  return [{ detail: 'id must be that of the path', pointer: '/data/id' }]
}

/** Reads `{"data": [{"type", "id"}, …]}`, the body of a write to a relationship: ids in their places, also repeated ones. */
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

/** Members that no schema names are ignored: they must not get into the database or the audit trail with the others. */
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
    // The first word on a place is the most telling one; unions repeat themselves.
    if (seen.has(place) || seen.size >= MAX_PROBLEMS) continue
    seen.add(place)
    problems.push({
      detail: `${name}${place.replaceAll('/', '.')} ${explained?.explain ?? plainWords[message] ?? message}`,
      pointer: pointer + place,
    })
  }
  return false
}

/** The validator's own words for what clients get wrong most. */
const plainWords: Readonly<Record<string, string>> = {
  'must be array': 'must be a list',
  'must be boolean': 'must be true or false',
  'must be integer': 'must be a whole number',
  'must be object': 'must be an object',
  'must be string': 'must be a text',
}

/** The first place on the way to a member whose schema has words of its own. */
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
