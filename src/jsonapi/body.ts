import { Type, type Static, type TSchema } from 'typebox'
import { AppError, invalid, type Problem } from '../core/errors.ts'
import { isJsonObject, memberOf } from '../core/json-object.ts'
import { checkValue, MAX_PROBLEMS, onlyKnown, type Shape } from './body-values.ts'
import { parseJson } from './json.ts'

/** The allowed content of a request's document. */
type BodyShape = {
  readonly type: string
  /** Other names of the type, which some clients send. */
  readonly otherTypes?: readonly string[]
  readonly attributes?: Shape
  /** Names of required attributes. */
  readonly required?: readonly string[]
  readonly relationships?: Shape
  readonly requiredRelationships?: readonly string[]
  /**
   * For a body that gives access: an attribute that the shape does not have is named in the answer, and refused with
   * PURSER_STRICT. These are the exceptions (see unknown-attributes.ts).
   */
  readonly ignored?: readonly string[]
  /** For actions: no body, `null` (terrasnek) and an absent or empty `data.type` (go-tfe sends `""`) are accepted. */
  readonly isLenient?: boolean
}

/** A body in the API description: a resource, or a list. */
export type AcceptedBody =
  | BodyShape
  | { identifiers: string }
  /** A list of items that are identified only by their content. */
  | { items: TSchema }

/** The members that the schemas of a shape accept. Only the required ones are sure to be there. */
type Values<S, Required> = S extends Shape
  ? { [N in Exclude<keyof S, Required>]?: Static<S[N]> } & { [N in keyof S & Required]: Static<S[N]> }
  : {}
type NamesIn<Names> = Names extends readonly (infer Name)[] ? Name : never

/** If the body has problems, the members that they concern are missing, even if they are required. */
type ParsedBody<S extends BodyShape> = {
  attributes: Values<S['attributes'], NamesIn<S['required']>>
  relationships: Values<S['relationships'], NamesIn<S['requiredRelationships']>>
  /** The id in the body, if there is one. */
  id: unknown
}

/** A body with its problems, which the route refuses together with its own. */
export type ReadBody<S extends BodyShape> = ParsedBody<S> & { problems: Problem[] }

/** A text that must be one of `values`; the error message lists them. */
export function oneOf<const V extends string>(...values: V[]) {
  const union = Type.Union(
    values.map((value) => Type.Literal(value)),
    { explain: `must be ${values.map((value) => `"${value}"`).join(' or ')}` },
  )
  return Type.Unsafe<V>(union)
}

/** PostgreSQL refuses NUL in a text, so such an id could not even be looked for. */
const relatedId = Type.String({ maxLength: 100, pattern: '^[^\\u0000]*$' })

/** `{"data": {"type": …, "id": …}}`: a relationship to one resource. */
export function toOne<const T extends string>(type: T) {
  return Type.Object(
    { data: Type.Object({ type: Type.Literal(type), id: relatedId }) },
    { explain: `must be {"data": {"type": "${type}", "id": …}}` },
  )
}

/** `{"data": [{"type": …, "id": …}, …]}`: a relationship to many resources. */
export function toMany<const T extends string>(type: T, most: number) {
  return Type.Object(
    {
      data: Type.Array(Type.Object({ type: Type.Literal(type), id: relatedId }), {
        maxItems: most,
      }),
    },
    { explain: `must be {"data": [{"type": "${type}", "id": …}, …]}, at most ${most}` },
  )
}

/** Reads a resource document. Throws one error with all problems. Unknown members are ignored. */
export function parseResource<const S extends BodyShape>(
  bytes: Uint8Array,
  shape: S,
  pathId?: string,
): ParsedBody<S> {
  const { problems, ...parsed } = readResource(bytes, shape, pathId)
  refuse(problems)
  return parsed
}

/** Throws one 422 with all problems; does nothing if there are none. */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new AppError('invalid', problems.slice(0, MAX_PROBLEMS))
}

/** The problem of an organization that has all it may have. */
export function tooMany(thing: 'teams' | 'projects' | 'workspaces', most: number): Problem {
  const setting = `PURSER_MAX_${thing.toUpperCase()}`
  return { detail: `an organization may have at most ${most} ${thing} (${setting})`, pointer: '/data' }
}

/** The problem of a name that another one has. */
export function nameIsTaken(thing: 'team' | 'project' | 'workspace'): Problem {
  const detail = `name is already used by another ${thing} of the organization`
  return { detail, pointer: '/data/attributes/name' }
}

/**
 * Adds `taken` to other problems if another object has the name. Without other problems it does nothing, because the
 * insert or update finds a taken name.
 *
 * @param name undefined: none is given
 * @param find returns the object that has the name
 * @param ownId the id of the object that may keep its name
 */
export async function besideTakenName(
  problems: Problem[],
  taken: Problem,
  name: string | undefined,
  find: (name: string) => Promise<{ readonly id: string } | undefined>,
  ownId?: string,
): Promise<void> {
  if (problems.length === 0 || name === undefined) return
  const holder = await find(name)
  if (holder !== undefined && holder.id !== ownId) problems.push(taken)
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
export function readResource<const S extends BodyShape>(
  bytes: Uint8Array,
  shape: S,
  pathId?: string,
): ReadBody<S> {
  const json = shape.isLenient ? (bytes.length === 0 ? {} : (parseJson(bytes) ?? {})) : parseJson(bytes)
  return readParsed(json, shape, pathId)
}

/** As `readResource`, for a document that is already parsed, at least its relevant members. */
export function readParsed<const S extends BodyShape>(json: unknown, shape: S, pathId?: string): ReadBody<S> {
  const problems: Problem[] = []
  const isEmpty = shape.isLenient && isJsonObject(json) && !('data' in json)
  const data = isEmpty ? {} : memberOf(json, 'data')
  if (!isJsonObject(data)) throw invalid('data must be an object', '/data')

  const { type } = data
  const isKnown =
    type === shape.type || (typeof type === 'string' && shape.otherTypes?.includes(type) === true)
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readShape has left out what does not fit S
  return { attributes, relationships, id: data.id, problems } as ReadBody<S>
}

/**
 * The problem of a body whose id differs from the path's. If the path has a name instead of an id, call it after
 * loading.
 */
export function otherId(given: unknown, own: string): Problem[] {
  if (given === undefined || given === '' || given === own) return []
  return [{ detail: 'id must be equal to the id in the path', pointer: '/data/id' }]
}

/** The ids of a list, in order, with repeats. An item with a problem has the id "", which names nothing. */
export type Identifiers = { readonly ids: readonly string[]; readonly problems: Problem[] }

/** Reads `{"data": [{"type", "id"}, …]}`, the body of a write to a relationship. Throws only if it is no such list. */
export function readIdentifiers(bytes: Uint8Array, type: string, most: number): Identifiers {
  const data = memberOf(parseJson(bytes), 'data')
  if (!Array.isArray(data)) throw invalid('data must be an array', '/data')
  if (data.length > most) throw invalid(`data may hold at most ${most} items`, '/data')
  const problems: Problem[] = []
  const ids = data.map((item: unknown, place) => {
    const given = isJsonObject(item) ? item : {}
    const before = problems.length
    if (given.type !== type)
      problems.push({ detail: `type must be "${type}"`, pointer: `/data/${place}/type` })
    if (typeof given.id !== 'string' || given.id === '') {
      problems.push({ detail: 'id must be a non-empty string', pointer: `/data/${place}/id` })
    }
    return problems.length === before ? String(given.id) : ''
  })
  return { ids, problems }
}

/** Adds a problem for each id of a list that names nothing, unless its item has a problem already. */
export function addUnknown(
  problems: Problem[],
  ids: readonly string[],
  isKnown: (id: string) => boolean,
  detail: string,
): void {
  ids.forEach((id, place) => {
    if (id !== '' && !isKnown(id)) problems.push({ detail, pointer: `/data/${place}/id` })
  })
}

function readShape(
  given: unknown,
  shape: Shape | undefined,
  required: readonly string[] = [],
  pointer: string,
  problems: Problem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  if (given !== undefined && !isJsonObject(given)) {
    problems.push({ detail: `${pointer.slice(pointer.lastIndexOf('/') + 1)} must be an object`, pointer })
    return values
  }
  for (const [name, schema] of Object.entries(shape ?? {})) {
    const value = memberOf(given, name)
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
