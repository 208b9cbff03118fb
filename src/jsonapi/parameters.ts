import { canonicalAddress } from '../core/ip-address.ts'
import { parseTimestamp, type Timestamp } from '../core/clock.ts'
import { AppError, invalidQuery } from '../core/errors.ts'
import { parseId, type IdKind } from '../core/ids.ts'
import { isOneOf } from '../core/keys.ts'
import type { Query } from './query.ts'

/** A query parameter: its place in the API description, and how its value is read. */
export type QueryParameter<T = unknown> = {
  readonly description: string
  /** The only allowed values. */
  readonly values?: readonly string[]
  /** It takes several values, separated by commas. */
  readonly isList?: true
  readonly format?: 'date-time'
  readonly isRequired?: true
  /** Throws 400 for an invalid value. */
  readonly read: (query: Query, name: string) => T
  /** The given parameters that a list's links repeat, if they are more than the one of this name. */
  readonly linkNames?: (query: Query) => readonly string[]
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>

/** The values of a route's query parameters, by name. */
export type QueryValues<P> = {
  readonly [N in keyof P]: P[N] extends QueryParameter<infer T> ? T : never
}

/** The parameters of a route, which may have none. */
export function parametersOf<P extends QueryParameters>(given: P | undefined): P {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without parameters P is {}
  return given ?? ({} as P)
}

/** Reads all parameters. Throws one 400 with the problems of all that are alike. */
export function readParameters<P extends QueryParameters>(query: Query, parameters: P): QueryValues<P> {
  const values: Record<string, unknown> = {}
  const errors: AppError[] = []
  for (const name in parameters) {
    try {
      values[name] = parameters[name]?.read(query, name)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      errors.push(error)
    }
  }
  const [first] = errors
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each parameter has read its own value
  if (first === undefined) return values as QueryValues<P>
  const alike = errors.filter(({ code }) => code === first.code)
  throw new AppError(
    first.code,
    alike.flatMap(({ problems }) => problems),
  )
}

/** The given parameters, which every link of a list repeats. */
export function linkParameters(query: Query, parameters: QueryParameters): [string, string][] {
  const names = Object.entries(parameters).flatMap(([name, { linkNames }]) => linkNames?.(query) ?? [name])
  return query.withoutPage(names)
}

export function text(description: string): QueryParameter<string | undefined> {
  return { description, read: (query, name) => query.text(name) }
}

/** A text without which the route answers 400. */
export function requiredText(description: string): QueryParameter<string> {
  return {
    description,
    isRequired: true,
    read: (query, name) => {
      const value = query.text(name)
      if (value !== undefined) return value
      throw invalidQuery(`${name} is missing`, name)
    },
  }
}

/** The id to look for. An invalid id becomes "", which finds nothing. */
export function idOf(kind: IdKind, description: string): QueryParameter<string | undefined> {
  return {
    description,
    read: (query, name) => {
      const value = query.text(name)
      return value === undefined ? undefined : (parseId(kind, value) ?? '')
    },
  }
}

/** The relations to include. Throws 400 for any other name. */
export function includes<const Name extends string>(...values: Name[]): QueryParameter<ReadonlySet<Name>> {
  return {
    description: 'Related resources to include, separated by commas',
    values,
    isList: true,
    read: (query, name) => {
      const can =
        values.length === 0 ? 'nothing can be included here' : `can be included here: ${values.join(', ')}`
      return namesIn(query, name, values, can, 'invalid-include') ?? new Set()
    },
  }
}

/**
 * The attributes and relationships that the resources of a type have in the answer: JSON:API's sparse fieldsets. All, if
 * undefined. Throws 400 for a name that the type does not have.
 */
export function fields<const Name extends string>(
  type: string,
  ...values: readonly Name[]
): QueryParameter<ReadonlySet<Name> | undefined> {
  return {
    description: `The attributes and relationships of ${type} in the answer, separated by commas. The answer has no others. Without the parameter it has all`,
    values,
    isList: true,
    read: (query, name) =>
      namesIn(query, name, values, `the names are: ${values.join(', ')}`, 'invalid-query'),
  }
}

/** The names in a list; undefined if absent. Throws 400 for names that are not in `known`. */
function namesIn<Name extends string>(
  query: Query,
  parameter: string,
  known: readonly Name[],
  can: string,
  code: 'invalid-include' | 'invalid-query',
): ReadonlySet<Name> | undefined {
  const asked = query.list(parameter)
  const isKnown = (name: string): name is Name => isOneOf(known, name)
  const unknown = asked?.filter((name) => !isKnown(name)) ?? []
  if (unknown.length > 0) {
    const few = unknown.slice(0, 10)
    throw new AppError(
      code,
      few.map((name) => ({ detail: `${name.slice(0, 100)} is unknown; ${can}`, parameter })),
    )
  }
  return asked && new Set(asked.filter(isKnown))
}

/** One of these values. Throws 400 for any other. */
export function choice<const V extends string>(
  description: string,
  ...values: V[]
): QueryParameter<V | undefined> {
  return {
    description,
    values,
    read: (query, name) => {
      const given = query.text(name)
      const value = values.find((one) => one === given)
      if (given === undefined || value !== undefined) return value
      throw invalidQuery(`${name} must be ${values.join(' or ')}`, name)
    },
  }
}

/** True or false; false if absent. Throws 400 for any other value. */
export function flag(description: string): QueryParameter<boolean> {
  const word = choice(description, 'true', 'false')
  return { ...word, read: (query, name) => word.read(query, name) === 'true' }
}

/** As `flag`, but undefined if absent. */
export function maybeFlag(description: string): QueryParameter<boolean | undefined> {
  const given = flag(description)
  return { ...given, read: (query, name) => (query.has(name) ? given.read(query, name) : undefined) }
}

export function commaSeparated(description: string): QueryParameter<string[] | undefined> {
  return { description, isList: true, read: (query, name) => query.list(name) }
}

/** An IP address, in its canonical form. Throws 400 for anything else. */
export function ipAddress(description: string): QueryParameter<string | undefined> {
  return {
    description,
    read: (query, name) => {
      const value = query.text(name)
      if (value === undefined) return undefined
      const address = canonicalAddress(value)
      if (address !== undefined) return address
      throw invalidQuery(`${name} must be an address such as 192.0.2.1 or 2001:db8::1`, name)
    },
  }
}

/** A time. Throws 400 if it is invalid. */
export function moment(description: string): QueryParameter<Timestamp | undefined> {
  return {
    description,
    format: 'date-time',
    read: (query, name) => {
      const value = query.text(name)
      if (value === undefined) return undefined
      const time = parseTimestamp(value)
      if (time !== undefined) return time
      throw invalidQuery(`${name} must be a time such as 2030-01-31T12:00:00Z`, name)
    },
  }
}
