import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { rawRoutes, routes } from '../../src/app.ts'
import { descriptions } from '../../src/openapi/descriptions.ts'
import { openApiDocument } from '../../src/openapi/openapi.ts'
import { resourceSchema } from '../../src/openapi/schemas.ts'

type Media = Record<string, { schema?: object }>
export type Operation = {
  method: string
  path: string
  summary: string
  responses: Record<string, { content?: Media } | { $ref: string }>
}

/** An answer as received. */
export type Seen = {
  status: number
  headers: { get: (name: string) => string | null | undefined }
  text: string
}

/** The schemas of one document. */
class Schemas {
  readonly #ajv = new Ajv2020({ strict: true, strictTypes: false, allowUnionTypes: true })
  readonly #validators = new WeakMap<object, ValidateFunction>()
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(schemas: Record<string, object>) {
    this.#ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    this.#ajv.addSchema({ $id: 'document:', $defs: inDefinitions(schemas) })
  }

  /** Each schema is compiled once, because many operations share it. */
  #validatorOf(schema: object): ValidateFunction {
    const known = this.#validators.get(schema)
    if (known !== undefined) return known
    const text = JSON.stringify(schema)
    let validate = this.#compiled.get(text)
    if (validate === undefined) {
      validate = this.#ajv.compile(inDefinitions(schema))
      this.#compiled.set(text, validate)
    }
    this.#validators.set(schema, validate)
    return validate
  }

  /** How the text contradicts the schema. Undefined if it does not. */
  problem(schema: object, text: string, what: string): string | undefined {
    const validate = this.#validatorOf(schema)
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      return `${what} with what is not JSON: ${text.slice(0, 300)}`
    }
    if (validate(json)) return undefined
    return `${what}, and ${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(validate.errors?.[0]?.params)}`
  }
}

/** The OpenAPI document of the current routes, and every operation in it. */
export class Conformity {
  readonly document = openApiDocument(routes, rawRoutes, '0.0.0') as {
    paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>
    components: { schemas: Record<string, object>; responses: Record<string, { content?: Media }> }
  }
  readonly operations: readonly Operation[]
  readonly #patterns: readonly { pattern: RegExp; operation: Operation }[]
  readonly #sparse: Schemas
  readonly #whole: Schemas

  constructor() {
    const { schemas } = this.document.components
    this.#sparse = new Schemas(schemas)
    // The document cannot say that only a request with `fields[type]` gets a part of the attributes.
    const whole = descriptions.map((description) => [
      description.type,
      resourceSchema({ ...description, isSparse: false }),
    ])
    this.#whole = new Schemas({ ...schemas, ...(Object.fromEntries(whole) as Record<string, object>) })
    this.operations = Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    )
    this.#patterns = this.operations
      .map((operation) => ({ pattern: patternOf(operation.path), operation }))
      // Literal paths come before paths with parameters, as in the router.
      .sort((a, b) => a.operation.path.split('{').length - b.operation.path.split('{').length)
  }

  /** The operation of a request. Undefined if the document has none. */
  find(method: string, path: string): Operation | undefined {
    if (!isRoutable(path)) return undefined
    const described = method === 'HEAD' ? 'GET' : method
    return this.#patterns.find(
      ({ pattern, operation }) => operation.method === described && pattern.test(path),
    )?.operation
  }

  /** How an answer contradicts the document. Undefined if it does not. `isSparse`: the request has `fields[type]`. */
  problem(method: string, path: string, seen: Seen, isSparse = false): string | undefined {
    if (!hasRequestId(seen)) return `${method} ${path} answered ${seen.status} without X-Request-Id`
    const operation = this.find(method, path)
    // A path without a description must not succeed. 400: a request with two Host headers is malformed on any path.
    if (operation === undefined && ![400, 401, 404].includes(seen.status)) {
      return `${method} ${path} is not described, and answered ${seen.status}`
    }
    const what = `${method} ${operation?.path ?? path} answered ${seen.status}`
    const response = operation === undefined ? errorResponse : this.#response(operation, seen.status)
    if (response === undefined) return `${what}, which is not described: ${seen.text.slice(0, 300)}`
    if (seen.status === 201 && !hasLocation(seen)) return `${what} without the Location of what it made`
    if (response.content === undefined || method === 'HEAD') {
      return seen.text === '' ? undefined : `${what} with a body: ${seen.text.slice(0, 300)}`
    }
    const contentType = seen.headers.get('content-type') ?? 'none'
    const media = response.content[contentType] ?? response.content['*/*']
    if (media === undefined) return `${what} as ${contentType}`
    if (media.schema === undefined) return undefined
    return (isSparse ? this.#sparse : this.#whole).problem(media.schema, seen.text, what)
  }

  #response({ responses }: Operation, status: number): { content?: Media } | undefined {
    const response = responses[String(status)]
    return response !== undefined && '$ref' in response
      ? this.document.components.responses[String(status)]
      : response
  }

  /** The same for an answer that was sent before the server looked for a route. */
  errorProblem(seen: Seen): string | undefined {
    const what = `a request that is no HTTP: ${seen.status}`
    const contentType = seen.headers.get('content-type')
    if (contentType !== 'application/vnd.api+json') return `${what} as ${contentType}`
    if (!hasRequestId(seen)) return `${what} without X-Request-Id`
    return this.#whole.problem(errorSchema, seen.text, what)
  }
}

/** Whether the request has `fields[type]`. */
export function asksForFields(target: string): boolean {
  return /fields(\[|%5B)/i.test(target)
}

/** A refused caller uses the request id to ask for the reason, so every answer must have it. */
function hasRequestId({ headers }: Seen): boolean {
  return /^[0-9a-f]{20}$/.test(headers.get('x-request-id') ?? '')
}

/** JSON:API requires Location to be the self link of the resource, if it has one. */
function hasLocation({ headers, text }: Seen): boolean {
  const { id, links } = (JSON.parse(text) as { data: { id: string; links?: { self: string } } }).data
  const location = headers.get('location')
  return links === undefined ? location?.endsWith(`/${id}`) === true : location === links.self
}

const errorSchema = { $ref: '#/components/schemas/errors' }
const errorResponse: { content?: Media } = {
  content: { 'application/vnd.api+json': { schema: errorSchema } },
}

function inDefinitions<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document:#/$defs/')) as T
}

const MAX_SEGMENT_LENGTH = 1_000

/** A path that is no valid percent-encoding or has a very long segment matches no route. */
function isRoutable(path: string): boolean {
  try {
    return decodeURIComponent(path)
      .split('/')
      .every((segment) => segment.length <= MAX_SEGMENT_LENGTH)
  } catch {
    return false
  }
}

function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[a-z_]+\}/g, '[^/]*')
  return new RegExp(`^${source}$`)
}
