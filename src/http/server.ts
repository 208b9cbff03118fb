import { existing } from '../core/existing.ts'
import { codeOf } from '../core/error-fields.ts'
import { executionAsyncResource } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import findMyWay, { type default as Router } from 'find-my-way'
import { AppError, badRequest, notFound, Overload, TooManyAttempts } from '../core/errors.ts'
import { maskedPath } from '../core/masked-path.ts'
import { errorDocument, internalErrorDocument, statusOf } from '../jsonapi/errors.ts'
import { Call, errorAnswer, type Answer, type FoundRoute } from './call.ts'
import { answerConnect } from './connect.ts'
import type { RunnerDeps } from './deps.ts'
import { isDryRun } from './dry-run.ts'
import { releaseWhenSent } from './held-answer.ts'
import { answerMalformed, MalformedParts } from './malformed.ts'
import { mustWait } from './pipelining.ts'
import { authenticate } from './permit.ts'
import { Reader } from './reader.ts'
import type { RawRoute } from './raw-route.ts'
import { nextRequestId } from './request-id.ts'
import type { Route } from './route.ts'
import { send } from './send.ts'
import { isSteady, untilNextStep } from './steady.ts'

const API = '/api/v2'
const KEEP_ALIVE_MS = 72_000
const CONNECTION_IDLE_MS = 30_000
const MAX_PARAM_LENGTH = 1_000
/** Some versions of Node (24.15) leave out those behind, others answer 431. */
const MAX_HEADERS = 1_000
/** Maximum length of the path recorded for an unknown endpoint. */
const MAX_NOTED_PATH = 500

type Work = (call: Call) => Promise<Answer>

// An import would read every export of these modules, which loads the code of `fetch` into memory.
const { createServer: createHttpServer } = process.getBuiltinModule('node:http')
const { createServer: createHttpsServer } = process.getBuiltinModule('node:https')

/** The HTTP server with all routes. It does not listen yet. */
export function createServer(
  routes: readonly Route[],
  rawRoutes: readonly RawRoute[],
  deps: RunnerDeps,
): Server {
  const { config } = deps
  const router = createRouter(routes, rawRoutes, deps)
  const onRequest = (request: IncomingMessage, response: ServerResponse) => router.lookup(request, response)
  const options = {
    // This server answers a missing Host; Node would answer it without a document.
    requireHostHeader: false,
    // Node then makes no stream of an empty body, which takes 6 % of the time of a small GET.
    optimizeEmptyRequests: true,
  }
  const server =
    config.tlsCert === undefined || config.tlsKey === undefined
      ? createHttpServer(options, onRequest)
      : createHttpsServer(
          { ...options, cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) },
          onRequest,
        )
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.requestTimeout = 0
  server.maxHeadersCount = MAX_HEADERS
  // Longer than the limit for a slow body, so that it is answered first (see Pace).
  server.setTimeout(CONNECTION_IDLE_MS + config.uploadIdleSeconds * 1000)
  // A client may close its sending side and still read. Otherwise Node would close too, and lose a slow answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Expectations other than 100-continue may be ignored (RFC 9110, 10.1.1). Connections listen to `request`, too.
  server.on('checkExpectation', (...exchange) => server.emit('request', ...exchange))
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    answerConnect(server, request, socket)
  })
  const malformed = new MalformedParts()
  server.on('clientError', (error: Error, socket: Socket) => {
    deps.writes.flush()
    malformed.answer(error, socket, deps.drain.connections.latestOn(socket))
  })
  // V8 forgets the shape of the objects behind process.nextTick if an idle server collects garbage while there is none of
  // them. From then on it makes each of them slowly, several for each request. So the server always holds one of them.
  // Each new connection replaces it, because the shape changes when the numbers in the objects become large.
  server.on('connection', () => {
    process.nextTick(() => Object.assign(server, { keptTick: executionAsyncResource() }))
  })
  return server
}

function createRouter(
  routes: readonly Route[],
  rawRoutes: readonly RawRoute[],
  deps: RunnerDeps,
): Router.Instance<Router.HTTPVersion.V1> {
  const onUnknown = (request: IncomingMessage, response: ServerResponse) =>
    void respond(request, response, { url: '', params: {} }, deps, (call) => answerUnknown(call, deps))
  const onUnreadable = (path: string, request: IncomingMessage, response: ServerResponse) => {
    // A path with a wildcard takes every text, so what cannot be decoded, such as %E0, makes no difference.
    const route = rawRoutes.find(
      (one) =>
        one.path.endsWith('/*') &&
        path.startsWith(one.path.slice(0, -1)) &&
        methodsOf(one.method).some((method) => method === request.method),
    )
    if (route === undefined) onUnknown(request, response)
    else {
      void respond(request, response, { url: route.path, params: {} }, deps, (call) =>
        route.answer(call, deps),
      )
    }
  }
  const router = findMyWay({
    maxParamLength: MAX_PARAM_LENGTH,
    // jsonapi/query.ts parses queries.
    querystringParser: () => ({}),
    defaultRoute: onUnknown,
    onBadUrl: onUnreadable,
    onMaxParamLength: onUnreadable,
  })
  const add = (method: Route['method'], url: string, work: Work) => {
    router.on(methodsOf(method), url, (request, response, params) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a path that was found has all its parameters
      void respond(request, response, { url, params: params as Record<string, string> }, deps, work)
    })
  }
  for (const route of routes) add(route.method, API + route.path, (call) => route.run(call, deps))
  for (const route of rawRoutes) {
    add(route.method, route.path, (call) => {
      if (route.method !== 'GET') isDryRun(call.query, false)
      return route.answer(call, deps)
    })
  }
  return router
}

/** HEAD uses the route of GET; `send` leaves the body out. */
function methodsOf(method: Route['method']): ('HEAD' | Route['method'])[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

/** Node ignores an Upgrade request, and then also a client that ends with half of its body sent. */
function answerHalf(request: IncomingMessage, response: ServerResponse, { writes }: RunnerDeps): void {
  const { socket } = request
  const onEnd = () => {
    if (request.complete) return
    writes.flush()
    if (response.headersSent) socket.destroySoon()
    else answerMalformed(new Error('half a request'), socket)
  }
  socket.once('end', onEnd)
  response.once('close', () => socket.off('end', onEnd))
}

/** An unknown path or method: 401 without a valid token, otherwise 404 as for everything hidden. */
async function answerUnknown(call: Call, deps: RunnerDeps): Promise<Answer> {
  const actor = await deps.database.read((tx) => authenticate(tx, call, deps), {
    account: new Reader(call, deps).account,
  })
  deps.refusals.note({
    requestId: call.requestId,
    at: deps.clock.now(),
    actor,
    method: call.method,
    // A copy, because a substring would keep the whole text in memory.
    path: Buffer.from(pathOf(call.stream).slice(0, MAX_NOTED_PATH), 'latin1').toString('latin1'),
    named: '{}',
    permission: null,
    reason: 'missing',
    found: undefined,
  })
  throw notFound()
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  route: FoundRoute,
  deps: RunnerDeps,
  work: Work,
): Promise<void> {
  if (mustWait(response) && !(await deps.pipelines.turnOf(request, response))) {
    return deps.accessLog?.lost(new Call(request, route, nextRequestId(), deps), response)
  }
  const requestId = nextRequestId()
  deps.requestMetrics?.begin()
  if (request.headers.upgrade !== undefined) answerHalf(request, response, deps)
  const call = new Call(request, route, requestId, deps)
  const { method, receivedAt } = call
  deps.accessLog?.follow(call, response)
  let answer: Answer
  try {
    checkHeaders(request)
    const made = await work(call)
    releaseWhenSent(made, response)
    answer = conditional(request, made)
  } catch (error) {
    answer = failure(error, requestId, request, deps)
  }
  // A command's own server hides nothing from the command.
  if (isSteady(answer) && deps.operator === undefined) await untilNextStep(call.receivedAt)
  deps.requestMetrics?.end(method, route.url, answer.status, receivedAt)
  if (deps.log.isLevelEnabled('debug')) {
    deps.log.debug({ requestId, method, path: pathOf(request), status: answer.status }, 'answered')
  }
  send(request, response, answer, requestId, deps)?.catch((error: unknown) => {
    // The headers were sent, so cut the connection: the client must not take a part for the whole answer.
    response.destroy()
    const about = { error, requestId, method, path: pathOf(request) }
    if (isOfClient(error)) deps.log.debug(about, 'the client went away before its answer was sent')
    else if (error instanceof AppError) deps.log.warn(about, 'an answer broke off')
    else deps.log.error(about, 'an answer broke off')
  })
}

/** Whether the connection failed, not the answer. */
function isOfClient(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && /^(ERR_STREAM_|ECONN|EPIPE$|ETIMEDOUT$)/.test(code)
}

/** The characters of names, addresses and ports (RFC 3986). Health checks send an empty Host. */
const isHost = /^[\w.~%!$&'()*+,;=:[\]-]*$/

function checkHeaders(request: IncomingMessage): void {
  const { headers, httpVersion, rawHeaders } = request
  if (mayLackHeaders(request)) throw badRequest(`a request may have at most ${MAX_HEADERS - 1} headers`)
  if (httpVersion === '1.1' && headers.host === undefined) {
    throw badRequest('HTTP/1.1 requests need a Host header')
  }
  if (!isHost.test(headers.host ?? '')) {
    throw badRequest('the header Host must be a name or an address, with a port or without')
  }
  if (hasOtherCoding(request)) throw badRequest('the only Transfer-Encoding that is accepted is chunked')
  // Node uses the first of two such headers, but a proxy may have checked the other one.
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) throw badRequest('the header Host must be sent once')
  if (authorizations > 1) throw badRequest('the header Authorization must be sent once')
}

function mayLackHeaders({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length >= 2 * MAX_HEADERS
}

/** Node reads `gzip, chunked` as `chunked`. A proxy in front may read it otherwise, and see the next request elsewhere. */
function hasOtherCoding({ headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding !== undefined && coding.toLowerCase() !== 'chunked'
}

function failure(error: unknown, requestId: string, request: IncomingMessage, deps: RunnerDeps): Answer {
  if (error instanceof AppError) {
    const headers: Record<string, string> = {}
    if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer'
    if (error.code === 'unavailable') headers['retry-after'] = '1'
    if (error instanceof Overload) deps.overloads.note(error)
    if (error instanceof TooManyAttempts) headers['retry-after'] = String(error.seconds)
    const isUnclear = hasOtherCoding(request) || mayLackHeaders(request)
    if (request.headers.host === undefined || isUnclear) headers.connection = 'close'
    return errorAnswer(statusOf(error.code), errorDocument(error), headers)
  }
  deps.log.error({ error, requestId, method: request.method, path: pathOf(request) }, 'a request failed')
  return errorAnswer(500, internalErrorDocument(requestId))
}

/** 304 if the client already has the document. Access was decided before, as for a 200. */
function conditional(request: IncomingMessage, answer: Answer): Answer {
  const etag = answer.headers?.etag
  const known = request.headers['if-none-match']
  if (etag === undefined || known === undefined || answer.status !== 200) return answer
  const isKnown = known
    .split(',')
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
  if (!isKnown) return answer
  const { 'content-type': _, ...headers } = answer.headers ?? {}
  return { status: 304, headers }
}

function pathOf(raw: IncomingMessage): string {
  return maskedPath(existing(raw.url))
}
