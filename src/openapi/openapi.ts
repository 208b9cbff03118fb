import { existing } from '../core/existing.ts'
import { JSON_API } from '../http/call.ts'
import type { RawRoute } from '../http/raw-route.ts'
import type { Route } from '../http/route.ts'
import type { AcceptedBody } from '../jsonapi/body.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../jsonapi/paging.ts'
import { descriptions } from './descriptions.ts'
import { flag, type QueryParameter } from '../jsonapi/parameters.ts'
import {
  bodySchema,
  documentName,
  documentSchema,
  pathParameterSchema,
  plain,
  reference,
  resourceSchema,
  sharedSchemas,
  type DocumentForm,
  type Schema,
} from './schemas.ts'
import { tagOf, tags } from './tags.ts'

const API = '/api/v2'
const ANYTHING = '*/*'
const BYTES = 'application/octet-stream'
const bytes = { type: 'string', format: 'binary' }

const meanings: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  204: 'Done; the answer has no body',
  304: 'The client already has the newest version',
  400: 'The query or the request itself is malformed, or the action is not possible now',
  401: 'No valid token',
  403: 'The request would remove the last owner or administrator',
  404: 'The object does not exist, or the caller may not see or change it: the answer is the same',
  408: 'The body arrived too slowly',
  409: 'The request conflicts with the present state',
  412: 'The serial is not greater than the current one',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'The body is malformed; each problem has a pointer to its place',
  429: 'Too many attempts, or too many writes of one account; Retry-After says when to go on',
  500: 'A failure of the server; the log has more under the request id',
  503: 'Not possible at the moment; Retry-After says when to try again',
}

const DRY_RUN = {
  'dry-run': flag('true: nothing is changed, and the answer lists whose access would change'),
}

const LOCATION = { Location: { description: 'The path of the new object', schema: { type: 'string' } } }

/** Writes without a body can get 422, too: the team `owners` cannot be deleted. */
const READ_ERRORS = [400, 401, 404, 500, 503]
const WRITE_ERRORS = [...READ_ERRORS, 422, 429]
const BODY_ERRORS = [408, 413, 415]
const OPEN_ERRORS = {
  GET: [400, 404, 500, 503],
  PUT: [400, 404, 408, 409, 413, 422, 429, 500, 503],
  POST: [400, 401, 403, 408, 413, 415, 422, 429, 500, 503],
} as const

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
  for (const route of routes) {
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
    servers: [{ url: '/', description: 'This server' }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A user, team or organization token' },
      },
      parameters: pageParameters,
      responses: sharedResponses(),
      schemas: {
        ...sharedSchemas,
        'included-resource': { anyOf: descriptions.map(({ type }) => reference(type)) },
        ...documentSchemas(routes),
        ...Object.fromEntries(
          descriptions.map((description) => [description.type, resourceSchema(description)]),
        ),
      },
    },
  }
}

function operationOf(route: Route): Schema {
  const isWrite = route.method !== 'GET'
  const common = isWrite ? [...WRITE_ERRORS, ...(route.hasBody ? BODY_ERRORS : [])] : READ_ERRORS
  const errors = [...common, ...(route.refuses ?? [])]
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    description: descriptionOf(route),
    tags: [tagOf(route.path)],
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
  const content = { content: { [ANYTHING]: {} } }
  return {
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    description: `Without a token: ${route.open}.`,
    tags: [tagOf(route.path)],
    security: [],
    parameters: [...pathParameters(route.path), ...queryParameters(route)],
    ...(route.method === 'PUT' ? { requestBody: { content: { [BYTES]: { schema: bytes } } } } : {}),
    ...(route.accepts === undefined ? {} : { requestBody: requestBody(route.accepts) }),
    responses: {
      ...Object.fromEntries(
        (route.statuses ?? [200]).map((status) => [
          status,
          route.answers === undefined
            ? { description: meanings[status], ...(status === 204 ? {} : content) }
            : success({ status, answers: route.answers }),
        ]),
      ),
      ...errorResponses(OPEN_ERRORS[route.method]),
    },
  }
}

/** Adds what the summary does not say. */
function descriptionOf({ permission, isLarge }: Route): string {
  const large = isLarge ? ' The body may be large: see PURSER_MAX_BODY_BYTES.' : ''
  return `Needs the permission ${permission}. A caller without it gets the 404 of a missing object.${large}`
}

/** A dry run answers 200 with the changes: a second status, or a second schema for 200. */
function successes(route: Route): Record<number, Schema> {
  const { status } = route
  const done = success(route)
  if (!route.hasDryRun) return { [status]: done }
  const changes = success({ ...route, status: 200, answers: 'access-changes' })
  if (status !== 200) return { [status]: done, 200: changes }
  const schema = { anyOf: [done, changes].map(({ content }) => content?.[JSON_API]?.schema) }
  return { 200: { description: meanings[200], content: { [JSON_API]: { schema } } } }
}

type Answered = { content?: Record<string, { schema?: Schema }>; [member: string]: unknown }

type Answering = Pick<Route, 'answers' | 'answersJson' | 'isList' | 'hasPageInMeta' | 'counts'> & {
  status: number
}

function success(route: Answering): Answered {
  const { status } = route
  const description = meanings[status]
  if (status === 204) return { description }
  if (status === 201) return { ...success({ ...route, status: 200 }), description, headers: LOCATION }
  if (route.answersJson !== undefined) {
    return { description, content: { 'application/json': { schema: plain(route.answersJson) } } }
  }
  if (route.answers === undefined) return { description, content: { [ANYTHING]: {} } }
  const schema = reference(documentName(route.answers, formOf(route)))
  return { description, content: { [JSON_API]: { schema } } }
}

function formOf({ isList, hasPageInMeta, counts }: Answering): DocumentForm {
  if (!isList) return 'one'
  return hasPageInMeta ? 'page in meta' : (counts ?? 'page')
}

/** The document schemas of all routes, each once. */
function documentSchemas(routes: readonly Route[]): Record<string, Schema> {
  const tried = routes.filter(({ hasDryRun }) => hasDryRun)
  const answering = [...routes, ...tried.map((route) => ({ ...route, answers: 'access-changes' }))]
  const warned = answering.filter(({ accepts }) => accepts !== undefined && 'ignored' in accepts)
  const mayWarn = new Set(warned.map((route) => documentName(route.answers ?? '', formOf(route))))
  return Object.fromEntries(
    answering.flatMap((route) => {
      const { answers } = route
      if (answers === undefined) return []
      const form = formOf(route)
      const name = documentName(answers, form)
      return [[name, documentSchema(answers, form, mayWarn.has(name))]]
    }),
  )
}

function errorResponses(statuses: readonly number[]): Record<number, Schema> {
  return Object.fromEntries(
    statuses
      .toSorted((a, b) => a - b)
      .map((status) => [status, { $ref: `#/components/responses/${status}` }]),
  )
}

/** Every error answer has the same schema. */
function sharedResponses(): Record<string, Schema> {
  const content = { [JSON_API]: { schema: reference('errors') } }
  const retryAfter = { description: 'Seconds to wait before the next attempt', schema: { type: 'integer' } }
  return Object.fromEntries(
    Object.entries(meanings)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, description]) => [
        status,
        {
          description,
          ...(status === '503' || status === '429' ? { headers: { 'Retry-After': retryAfter } } : {}),
          content,
        },
      ]),
  )
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
    schema: pathParameterSchema(existing(name)),
  }))
}

function queryParameters(route: Route | RawRoute): Schema[] {
  const { isList, isUnpaged } = route
  const query = { ...route.query, ...('hasDryRun' in route && route.hasDryRun ? DRY_RUN : {}) }
  const named = Object.entries(query).map(([name, parameter]) => queryParameter(name, parameter))
  return !isList || isUnpaged ? named : [...named, ...Object.keys(pageParameters).map(parameterReference)]
}

const parameterReference = (name: string) => ({ $ref: `#/components/parameters/${name}` })

function queryParameter(name: string, parameter: QueryParameter): Schema {
  const { description, values, isList, format, isRequired } = parameter
  const one = {
    type: 'string',
    ...(values === undefined ? {} : { enum: values }),
    ...(format === undefined ? {} : { format }),
    ...(isRequired ? { minLength: 1 } : {}),
  }
  return {
    name,
    in: 'query',
    description,
    ...(isRequired ? { required: true } : {}),
    ...(isList ? { style: 'form', explode: false, schema: { type: 'array', items: one } } : { schema: one }),
  }
}

const pageParameter = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'query',
  description,
  schema: { type: 'integer', minimum: 1, ...schema },
})

const pageParameters = {
  'page-number': pageParameter('page[number]', 'Number of the page', { default: 1 }),
  'page-size': pageParameter(
    'page[size]',
    `Items on a page. More than ${MAX_PAGE_SIZE} counts as ${MAX_PAGE_SIZE}`,
    {
      default: DEFAULT_PAGE_SIZE,
    },
  ),
}

function operationId(method: string, path: string): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  return [method.toLowerCase(), ...words].join('-')
}
