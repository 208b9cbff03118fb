import type { Timestamp } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import type { IdKind } from '../core/ids.ts'
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
      throw new AppError('invalid-query', [{ detail: `${name} is missing`, parameter: name }])
    },
  }
}

/** The id to look for. An invalid id becomes "", which finds nothing. */
export function idOf(kind: IdKind, description: string): QueryParameter<string | undefined> {
  return { description, read: (query, name) => query.id(kind, name) }
}

/** The relations to include. Throws 400 for any other name. */
export function includes<const Name extends string>(...values: Name[]): QueryParameter<ReadonlySet<Name>> {
  return {
    description: 'Related resources to include, separated by commas',
    values,
    isList: true,
    read: (query) => query.include(values),
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
    read: (query, name) => query.namesIn(name, values),
  }
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
      const detail = `${name} must be ${values.join(' or ')}`
      throw new AppError('invalid-query', [{ detail, parameter: name }])
    },
  }
}

/** True or false; false if absent. Throws 400 for any other value. */
export function flag(description: string): QueryParameter<boolean> {
  return { description, values: ['true', 'false'], read: (query, name) => query.flag(name) }
}

/** As `flag`, but undefined if absent. */
export function maybeFlag(description: string): QueryParameter<boolean | undefined> {
  return { ...flag(description), read: (query, name) => (query.has(name) ? query.flag(name) : undefined) }
}

export function commaSeparated(description: string): QueryParameter<string[] | undefined> {
  return { description, isList: true, read: (query, name) => query.list(name) }
}

/** A time. Throws 400 if it is invalid. */
export function moment(description: string): QueryParameter<Timestamp | undefined> {
  return { description, format: 'date-time', read: (query, name) => query.time(name) }
}
