import { parse as parseQuery } from 'node:querystring'
import { AppError } from '../core/errors.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Page } from './paging.ts'

/** JSON readers do not agree on larger numbers, and no list has so many pages. */
const MAX_PAGE_NUMBER = Number.MAX_SAFE_INTEGER
const MAX_RECENT = 1_000
const MAX_RECENT_LENGTH = 100

/**
 * The query of a request. Unknown parameters are ignored (some clients send extra ones). The last of repeated
 * parameters wins, and an empty one counts as absent. Names may be percent-encoded.
 */
export class Query {
  readonly #values = new Map<string, string>()
  readonly #repeated = new Set<string>()
  readonly #known = new Map<object, unknown>()

  constructor(text: string) {
    if (text === '') return
    // No limit on names: node:http already limits the length of the request head.
    for (const [name, given] of Object.entries(parseQuery(text, '&', '=', { maxKeys: 0 }))) {
      const value = (Array.isArray(given) ? given.at(-1) : given) ?? ''
      if (Array.isArray(given)) this.#repeated.add(name)
      // PostgreSQL refuses NUL. Its replacement occurs in no name, so nothing is found.
      this.#values.set(name, value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value)
    }
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name)
    return value === '' ? undefined : value
  }

  /** The value as given, even if empty. */
  given(name: string): string | undefined {
    return this.#values.get(name)
  }

  /** The names of all given parameters. */
  get names(): Iterable<string> {
    return this.#values.keys()
  }

  isRepeated(name: string): boolean {
    return this.#repeated.has(name)
  }

  /** A comma-separated list; undefined if absent. */
  list(name: string): string[] | undefined {
    const items = this.text(name)
      ?.split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
    return items === undefined || items.length === 0 ? undefined : [...new Set(items)]
  }

  /** Computes what the query means to `reader` once: recent queries are shared between requests. */
  once<T extends object>(reader: object, compute: () => T): T {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a reader computes one type only
    const known = this.#known.get(reader) as T | undefined
    if (known !== undefined) return known
    const value = compute()
    this.#known.set(reader, value)
    return value
  }

  page(): Page {
    return this.once(Query, () => this.pageUpTo(DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE))
  }

  /** The page, for a list with its own page sizes. */
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

  /** Names and values of the parameters that match the pattern. */
  matching(pattern: RegExp): [string, string][] {
    return [...this.#values].filter(([name, value]) => value !== '' && pattern.test(name))
  }

  /** The given parameters in `names`, without the page: every link of a list repeats them. */
  withoutPage(names: readonly string[]): [string, string][] {
    if (!names.some((name) => this.has(name))) return []
    return [...this.#values].filter(([name, value]) => value !== '' && names.includes(name))
  }
}

/** Parses queries. Recent ones are cached, to avoid parsing them again. */
export class Queries {
  readonly #recent = new Map<string, Query>()

  of(text: string): Query {
    const known = this.#recent.get(text)
    if (known !== undefined) return known
    const query = new Query(text)
    if (text.length > MAX_RECENT_LENGTH) return query
    if (this.#recent.size >= MAX_RECENT) this.#recent.clear()
    this.#recent.set(text, query)
    return query
  }
}
