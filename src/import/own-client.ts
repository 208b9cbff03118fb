import { existing } from '../core/existing.ts'
import { parseStored } from '../core/stored-json.ts'
import { request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Database } from '../database/database.ts'
import { openOwnServer, sendRequest, type OwnServer, type OwnServerOptions } from './own-server.ts'
import { readList, resourceOf, type List, type Resource } from './source-lists.ts'
import type { Spool } from './spool.ts'
import { routes } from '../app.ts'
import type { Problem } from '../core/errors.ts'
import type { UserRow } from '../users/user-store.ts'

/** Stands for the id of an object that a dry run would create. */
export const TO_BE_MADE = '(to be made)'

type Asked = { type: string; attributes: Record<string, unknown>; relationships?: Record<string, unknown> }

/** A refusal with the server's own message, a line for each problem. `pointers` name the affected members of the body. */
export class Refused extends OperatorError {
  readonly status: number
  readonly pointers: readonly string[]

  constructor(status: number, message: string, pointers: readonly string[]) {
    super(message)
    this.status = status
    this.pointers = pointers
  }
}

type ErrorDocument = {
  errors?: { title?: string; detail?: string; source?: { pointer?: string } }[]
}

/** A client of a command's own server, as a site administrator: the rules and the audit trail are those of HTTP. */
export class OwnClient {
  readonly #server: OwnServer
  /** Sends no writes; it only validates their bodies. */
  readonly #isReadOnly: boolean
  readonly database: Database
  readonly user: UserRow
  readonly config: Config

  constructor(server: OwnServer, isReadOnly: boolean) {
    this.#server = server
    this.#isReadOnly = isReadOnly
    this.database = server.database
    this.user = server.user
    this.config = server.config
  }

  list(path: string, query: Record<string, string> = {}): Promise<List> {
    const document = async (_: string, page: Record<string, string>): Promise<unknown> =>
      JSON.parse(await this.#request('GET', `${path}?${new URLSearchParams(page).toString()}`))
    return readList({ document }, path, query, Infinity)
  }

  async show(path: string): Promise<Resource | undefined> {
    const text = await unlessMissing(this.#request('GET', path))
    return text === undefined ? undefined : resourceOf(JSON.parse(text))
  }

  /** Returns the resource of the answer. In a dry run it returns the request's data if they are valid. */
  async send(method: 'POST' | 'PATCH', path: string, data: Asked): Promise<Resource> {
    const body = JSON.stringify({ data })
    if (!this.#isReadOnly) return resourceOf(JSON.parse(await this.#request(method, path, body)))
    this.#tryOut(method, path, body)
    return { id: TO_BE_MADE, relationships: {}, links: {}, ...data }
  }

  /** Sends an action or a write to a relationship. The answer's content is ignored. */
  async act(path: string, body: object, method: 'POST' | 'PATCH' | 'DELETE' = 'POST'): Promise<void> {
    if (this.#isReadOnly) this.#tryOut(method, path, JSON.stringify(body))
    else await this.#request(method, path, JSON.stringify(body))
  }

  #tryOut(method: string, path: string, body: string): void {
    const problems = problemsOf(method, path, body, this.config)
    if (problems.length === 0) return
    const pointers = problems.flatMap(({ pointer }) => pointer ?? [])
    throw new Refused(422, problems.map(({ detail }) => detail).join('\n'), pointers)
  }

  /** What a deletion would change. Undefined if there is no such object. */
  async tryDeletion(path: string): Promise<Resource | undefined> {
    const text = await unlessMissing(this.#request('DELETE', `${path}?dry-run=true`))
    return text === undefined ? undefined : resourceOf(JSON.parse(text))
  }

  /** Returns false if there is no such object. */
  async delete(path: string): Promise<boolean> {
    return (await unlessMissing(this.#request('DELETE', path))) !== undefined
  }

  async upload(address: string, content: Pick<Spool, 'size' | 'chunks'>): Promise<void> {
    // Not fetch: it reads the whole stream into memory before the server has taken it.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-length': content.size }
      const sent = request(address, { method: 'PUT', headers }, resolve)
      pipeline(Readable.from(content.chunks(), { objectMode: false }), sent).catch(reject)
    })
    refuseUnlessOk(existing(answer.statusCode), await text(answer))
  }

  async #request(method: string, path: string, body?: string): Promise<string> {
    const answer = await sendRequest(this.#server, method, path, body)
    return refuseUnlessOk(answer.status, answer.text)
  }
}

/** Undefined if the answer is 404. */
async function unlessMissing(answer: Promise<string>): Promise<string | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

function refuseUnlessOk(status: number, body: string): string {
  if (status < 300) return body
  const { errors = [] } = parseStored<ErrorDocument>(body)
  const message = errors.map(({ detail, title }) => detail ?? title).join('\n')
  if (status >= 500) throw new OperatorError(`this server failed with ${status}: ${message}`)
  throw new Refused(
    status,
    message,
    errors.flatMap(({ source }) => source?.pointer ?? []),
  )
}

/** Problems that a route finds in a body without looking anything up. */
function problemsOf(method: string, path: string, body: string, config: Config): readonly Problem[] {
  const route = routes.find((one) => one.method === method && isPathOf(one.path, path))
  if (route === undefined) throw new Error(`there is no route ${method} ${path}`)
  return route.checkBody(Buffer.from(body), config)
}

function isPathOf(pattern: string, path: string): boolean {
  const [names, parts] = [pattern.split('/'), path.split('/')]
  return (
    names.length === parts.length && names.every((name, at) => name.startsWith(':') || name === parts[at])
  )
}

/** Runs work with a client of its own. */
export async function withOwnClient<T>(
  config: Config,
  options: OwnServerOptions,
  work: (client: OwnClient) => Promise<T>,
): Promise<T> {
  await using server = await openOwnServer(config, options)
  return await work(new OwnClient(server, options.isReadOnly === true))
}
