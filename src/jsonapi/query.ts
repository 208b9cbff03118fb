import { parse as parseQuery } from 'node:querystring'
import { parseTimestamp, type Timestamp } from '../core/clock.ts'
import { AppError } from '../core/errors.ts'
import { parseId, type IdKind } from '../core/ids.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Page } from './paging.ts'

/** Of larger ones JSON readers do not agree which number it is; no list has so many pages. */
const MAX_PAGE_NUMBER = Number.MAX_SAFE_INTEGER
const nothing: ReadonlySet<never> = new Set()
const MAX_RECENT = 1_000
const MAX_RECENT_LENGTH = 100

/**
 * The query of a request. Unknown parameters are ignored (clients leak some); of a repeated one the last counts; an empty
 * one counts as not given; names may be percent-encoded or not.
 */
export class Query {
  static readonly #recent = new Map<string, Query>()
  readonly #values = new Map<string, string>()
  readonly #repeated = new Set<string>()
  #page: Page | undefined

  /** The same text gives the same query, without parsing it again. */
  static of(text: string): Query {
    const known = Query.#recent.get(text)
    if (known !== undefined) return known
    const query = new Query(text)
    if (text.length > MAX_RECENT_LENGTH) return query
    if (Query.#recent.size >= MAX_RECENT) Query.#recent.clear()
    Query.#recent.set(text, query)
    return query
  }

  constructor(text: string) {
    if (text === '') return
    // No limit of names: a query is as long as node:http lets a head be.
    for (const [name, given] of Object.entries(parseQuery(text, '&', '=', { maxKeys: 0 }))) {
      const value = (Array.isArray(given) ? given.at(-1) : given) ?? ''
      if (Array.isArray(given)) this.#repeated.add(name)
      // PostgreSQL refuses NUL; what it is replaced by is in no name either.
      this.#values.set(name, value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value)
    }
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === '' ? undefined : value
  }

  /** As it was given, be it empty. */
  given(name: string): string | undefined {
    return this.#values.get(name)
  }

  /** All parameters that were given. */
  get names(): Iterable<string> {
    return this.#values.keys()
  }

  isRepeated(name: string): boolean {
    return this.#repeated.has(name)
  }

  /** The id of something to look for; of what is no such id, there is none: "" finds nothing. */
  id(kind: IdKind, name: string): string | undefined {
    const value = this.text(name)
    return value === undefined ? undefined : (parseId(kind, value) ?? '')
  }

  /** true or false; anything else is the client's error. */
  flag(name: string): boolean {
    const value = this.text(name)
    if (value === undefined || value === 'true' || value === 'false') return value === 'true'
    throw new AppError('invalid-query', [{ detail: `${name} must be true or false`, parameter: name }])
  }

  /** A comma-separated list; undefined when not given. */
  list(name: string): string[] | undefined {
    const items = this.text(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    return items === undefined || items.length === 0 ? undefined : [...new Set(items)]
  }

  /** A time as it is stored; anything that is none is the client's error. */
  time(name: string): Timestamp | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    const time = parseTimestamp(value)
    if (time !== undefined) return time
    const detail = `${name} must be a time such as 2030-01-31T12:00:00Z`
    throw new AppError('invalid-query', [{ detail, parameter: name }])
  }

  /** The relations to include; anything but `known` is the client's error. */
  include<const Name extends string>(known: readonly Name[]): ReadonlySet<Name> {
    const asked = this.list('include')
    if (asked === undefined) return nothing
    const unknown = asked.filter((name) => !known.includes(name as Name))
    if (unknown.length > 0) {
      const can =
        known.length === 0 ? 'nothing can be included here' : `can be included here: ${known.join(', ')}`
      throw new AppError(
        'invalid-include',
        unknown
          .slice(0, 10)
          .map((name) => ({ detail: `${name.slice(0, 100)} is unknown; ${can}`, parameter: 'include' })),
      )
    }
    return new Set(asked as Name[])
  }

  page(): Page {
    return (this.#page ??= this.pageUpTo(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE))
  }

  /** A page of a list that has sizes of its own. */
  pageUpTo(defaultSize: number, maxSize: number): Page {
    const problems: { detail: string; parameter: string }[] = []
    const read = (name: string, initial: number) => {
      const value = this.text(name)
      if (value === undefined) return initial
      if (!/^0*[1-9]\d*$/.test(value)) {
        problems.push({ detail: `${name} must be a whole number from 1`, parameter: name })
      }
      return Number(value)
    }
    const page = {
      number: Math.min(read('page[number]', 1), MAX_PAGE_NUMBER),
      size: Math.min(read('page[size]', defaultSize), maxSize),
    }
    if (problems.length > 0) throw new AppError('invalid-query', problems)
    return page
  }

  has(name: string): boolean {
    return this.text(name) !== undefined
  }

  /** The parameters with names like this, and what was given for them. */
  matching(pattern: RegExp): [string, string][] {
    return [...this.#values].filter(([name, value]) => value !== '' && pattern.test(name))
  }

  /** What was given, but for the page: every link of a list carries it on. */
  withoutPage(names: readonly string[]): [string, string][] {
    if (!names.some((name) => this.has(name))) return []
    return [...this.#values].filter(([name, value]) => value !== '' && names.includes(name))
  }
}
