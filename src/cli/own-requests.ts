import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { openOwnServer, sendRequest, type OwnServer } from '../import/own-server.ts'

type Attribute = string | number | boolean | null | Record<string, unknown>

/** A resource as the interface shows it. */
export type Resource = {
  id: string
  type: string
  attributes: Record<string, Attribute>
  relationships?: Record<string, { data?: { id: string; type: string }[] | { id: string } | null }>
}

const PAGE_SIZE = 100

/** Requests to this process's own server, as a site administrator: the rules and the audit trail are those of HTTP. */
export class OwnRequests {
  readonly #server: OwnServer

  constructor(server: OwnServer) {
    this.#server = server
  }

  /** Undefined when there is no such thing. */
  async find(path: string): Promise<Resource | undefined> {
    return (await this.#ask<{ data: Resource }>('GET', path))?.data
  }

  /** All pages; undefined when what the list belongs to is not there. */
  async list(path: string, query: Record<string, string> = {}): Promise<Resource[] | undefined> {
    const found: Resource[] = []
    for (let page: number | null = 1; page !== null;) {
      const asked: Record<string, string> = {
        ...query,
        'page[number]': String(page),
        'page[size]': String(PAGE_SIZE),
      }
      const answer: ListAnswer | undefined = await this.#ask(
        'GET',
        `${path}?${new URLSearchParams(asked).toString()}`,
      )
      if (answer === undefined) return undefined
      for (const resource of answer.data) found.push(resource)
      page = answer.meta?.pagination['next-page'] ?? null
    }
    return found
  }

  /** False when there is no such thing. */
  async delete(path: string): Promise<boolean> {
    return (await this.#ask('DELETE', path)) !== undefined
  }

  async #ask<T extends object>(method: string, path: string): Promise<T | undefined> {
    // A name such as `..` makes a URL with another path; nothing has such a name.
    if (!new URL(`${this.#server.address}/api/v2${path}`).href.endsWith(path)) return undefined
    const { status, text } = await sendRequest(this.#server, method, path)
    if (status === 404) return undefined
    const answer = text === '' ? {} : JSON.parse(text)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this server answers its own documents
    if (status < 300) return answer as T
    throw new OperatorError(wordsOf(answer, status))
  }
}

type ListAnswer = { data: Resource[]; meta?: { pagination: { 'next-page': number | null } } }
type Problem = { title?: string; detail?: string }

function wordsOf({ errors = [] }: { errors?: Problem[] }, status: number): string {
  const words = errors.map(({ detail, title }) => detail ?? title).filter((word) => word !== undefined)
  return words.join('\n') || `the server answered ${status}`
}

/** @param as the site administrator who acts; may be left out where there is only one */
export async function withOwnRequests<T>(
  config: Config,
  { as, isReadOnly = false }: { as?: string | undefined; isReadOnly?: boolean },
  work: (requests: OwnRequests) => Promise<T>,
): Promise<T> {
  const server = await openOwnServer(config, { isReadOnly, ...(as === undefined ? {} : { as }) })
  try {
    return await work(new OwnRequests(server))
  } finally {
    await server.close()
  }
}
