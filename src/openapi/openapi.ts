import type { RawRoute } from '../http/raw-route.ts'
import type { Route } from '../http/route.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../jsonapi/paging.ts'
import { descriptions } from './descriptions.ts'
import {
  bodySchema,
  documentSchema,
  plain,
  reference,
  resourceSchema,
  sharedSchemas,
  type Schema,
} from './schemas.ts'

const API = '/api/v2'
const JSON_API = 'application/vnd.api+json'
const ANYTHING = '*/*'

const meanings: Record<number, string> = {
  200: 'Done',
  201: 'Made',
  204: 'Done; there is nothing to say',
  304: 'The client has the newest already',
  400: 'The query or the request itself is malformed, or the state of things forbids it for now',
  401: 'No token, or none that is in force',
  403: 'It would take away the last owner or administrator',
  404: 'There is no such thing, or it is not for this caller: the two cannot be told apart',
  409: 'It contradicts what is there',
  412: 'The serial is not greater than the current one',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'The body is malformed; each problem has a pointer to its place',
  500: 'A failure of the server; the log has more under the request id',
  503: 'Not now; Retry-After says when',
}

const DRY_RUN = {
  'dry-run': 'true: nothing is done, and the answer says who could do what instead; true, false',
}

const READ_ERRORS = [400, 401, 404, 500, 503]
const WRITE_ERRORS = [400, 401, 403, 404, 409, 412, 413, 500, 503]
const BODY_ERRORS = [415, 422]
const OPEN_ERRORS = { GET: [400, 404, 500, 503], PUT: [400, 404, 409, 413, 422, 500, 503] } as const

/** The fields of a route that its description is made of. */
type Documented = Omit<Partial<Route>, 'accepts' | 'body' | 'status' | 'act'> & {
  method: string
  path: string
  accepts?: AcceptedBody
  body?: unknown
  status?: number
  act?: unknown
  dryRun?: unknown
}

/** The OpenAPI 3.1 document of these routes. */
export function openApiDocument(
  routes: readonly Route[],
  rawRoutes: readonly RawRoute[],
  version: string,
): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  const add = (path: string, method: string, operation: Schema) => {
    const place = path.replace(/:([a-z_]+)/g, '{$1}')
    paths[place] = { ...paths[place], [method.toLowerCase()]: operation }
  }
  for (const route of routes as unknown as readonly Documented[]) {
    add(API + route.path, route.method, operationOf(route))
  }
  for (const route of rawRoutes) add(route.path, route.method, openOperationOf(route))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Purser',
      version,
      description: 'Teams and what they may do, and the outputs of stored Terraform and OpenTofu states.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A user, team or organization token' },
      },
      schemas: {
        ...sharedSchemas,
        ...Object.fromEntries(
          descriptions.map((description) => [description.type, resourceSchema(description)]),
        ),
      },
    },
  }
}

function operationOf(route: Documented): Schema {
  const isWrite = route.act !== undefined
  const takesBody = route.body !== undefined
  const errors = isWrite
    ? [...WRITE_ERRORS, ...(takesBody || route.accepts ? BODY_ERRORS : [422])]
    : READ_ERRORS
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    ...(route.answers === undefined ? {} : { tags: [route.answers] }),
    parameters: [...pathParameters(route.path), ...queryParameters(route)],
    ...(route.accepts === undefined ? {} : { requestBody: requestBody(route.accepts) }),
    responses: {
      ...successes(route),
      ...(isWrite ? {} : { 304: { description: meanings[304] } }),
      ...errorResponses(errors),
    },
  }
}

function openOperationOf(route: RawRoute): Schema {
  const statuses = route.statuses ?? [200]
  const content = { content: { [ANYTHING]: {} } }
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    description: `Without a token: ${route.open}.`,
    security: [],
    parameters: [...pathParameters(route.path), ...queryParameters(route)],
    ...(route.method === 'PUT' ? { requestBody: content } : {}),
    responses: {
      ...Object.fromEntries(
        statuses.map((status) => [
          status,
          { description: meanings[status], ...(status === 204 ? {} : content) },
        ]),
      ),
      ...errorResponses(OPEN_ERRORS[route.method]),
    },
  }
}

/** A trial answers 200 with what would change, beside or instead of what the route answers otherwise. */
function successes(route: Documented): Record<number, Schema> {
  const status = route.status ?? 200
  const done = success(route)
  if (route.dryRun === undefined) return { [status]: done }
  const changes = success({ ...route, status: 200, answers: 'access-changes' })
  if (status !== 200) return { [status]: done, 200: changes }
  const schema = { anyOf: [schemaOf(done), schemaOf(changes)] }
  return { 200: { description: meanings[200], content: { [JSON_API]: { schema } } } }
}

function schemaOf(response: Schema): Schema {
  const { content } = response as { content: Record<string, { schema: Schema }> }
  return content[JSON_API]?.schema as Schema
}

function success(route: Documented): Schema {
  const status = route.status ?? 200
  const description = meanings[status]
  if (status === 204) return { description }
  if (route.answersJson !== undefined) {
    return { description, content: { 'application/json': { schema: plain(route.answersJson) } } }
  }
  if (route.answers === undefined) return { description, content: { [ANYTHING]: {} } }
  const page = route.hasPageInMeta ? 'page in meta' : 'page'
  const form = route.isList ? (route.isUnpaged ? 'all' : page) : 'one'
  const schema = documentSchema(
    route.answers,
    form,
    descriptions.map(({ type }) => type),
  )
  return { description, content: { [JSON_API]: { schema } } }
}

function errorResponses(statuses: readonly number[]): Record<number, Schema> {
  const content = { [JSON_API]: { schema: reference('errors') } }
  return Object.fromEntries(statuses.map((status) => [status, { description: meanings[status], content }]))
}

function requestBody(accepts: AcceptedBody): Schema {
  const isNeeded = !('isLenient' in accepts && accepts.isLenient)
  return { required: isNeeded, content: { [JSON_API]: { schema: bodySchema(accepts) } } }
}

function pathParameters(path: string): Schema[] {
  return [...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
}

function queryParameters(route: Documented | RawRoute): Schema[] {
  const { isList, isUnpaged } = route
  const query = { ...route.query, ...('dryRun' in route && route.dryRun !== undefined ? DRY_RUN : {}) }
  const named = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  if (!isList || isUnpaged) return named
  const page = (name: string, schema: Schema) => ({
    name,
    in: 'query',
    schema: { type: 'integer', minimum: 1, ...schema },
  })
  return [
    ...named,
    page('page[number]', { default: 1 }),
    page('page[size]', {
      default: DEFAULT_PAGE_SIZE,
      description: `More than ${MAX_PAGE_SIZE} is ${MAX_PAGE_SIZE}.`,
    }),
  ]
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].join('-')
}
