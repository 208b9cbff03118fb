import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError, notFound } from '../core/errors.ts'
import { errorDocument, internalErrorDocument, statusOf } from '../jsonapi/errors.ts'
import { errorAnswer, type Answer, type Call } from './call.ts'
import type { Deps } from './deps.ts'
import { isTrial } from './dry-run.ts'
import { releaseWhenSent } from './held-answer.ts'
import { HttpCall } from './http-call.ts'
import { endLingering, mustClose } from './linger.ts'
import { answerMalformed } from './malformed.ts'
import { mustWait, turnOf } from './pipelining.ts'
import type { RawRoute } from './raw-route.ts'
import { nextRequestId } from './request-id.ts'
import type { Route } from './route.ts'
import { authenticate, runRoute } from './run-route.ts'
import { isSteady, untilNextStep } from './steady.ts'

const API = '/api/v2'
const KEEP_ALIVE_MS = 72_000
const CONNECTION_IDLE_MS = 30_000
const SHORT_BYTES = 4096
const MAX_PARAM_LENGTH = 1_000
/** Of an endpoint that there is not. */
const MAX_NOTED_PATH = 500

/** The HTTP server with every route; it does not listen yet. */
export function createServer(
  routes: readonly Route[],
  rawRoutes: readonly RawRoute[],
  deps: Deps,
): FastifyInstance {
  const { config } = deps
  const fastify = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      ignoreTrailingSlash: false,
      // Queries are read by jsonapi/query.ts.
      querystringParser: () => ({}),
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Later than the answer to a body that arrives too slowly (see Pace).
    connectionTimeout: CONNECTION_IDLE_MS + config.uploadIdleSeconds * 1000,
    requestTimeout: 0,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A missing Host is answered here, since Node would answer it without a document.
    ...(config.tlsCert === undefined || config.tlsKey === undefined
      ? { http: { requireHostHeader: false } }
      : {
          https: {
            cert: readFileSync(config.tlsCert),
            key: readFileSync(config.tlsKey),
            requireHostHeader: false,
          },
        }),
    clientErrorHandler: answerMalformed,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack()
      void answerUnknown(request, reply.raw, deps)
    },
  }) as unknown as FastifyInstance
  // Whoever ends his side once the request is sent still reads: otherwise an answer that waits for a database is lost.
  Object.assign(fastify.server, { httpAllowHalfOpen: true })
  // Expectations beyond 100-continue may be ignored (RFC 9110, 10.1.1).
  fastify.server.on('checkExpectation', (...exchange) => fastify.server.emit('request', ...exchange))
  // Everything is answered from the first hook on: Fastify, which would judge content types and bodies before the token,
  // only finds the route. Its own parsers and handlers are never reached.
  const answerBy = (work: (call: Call) => Promise<Answer>) => ({
    onRequest: (request: FastifyRequest, reply: FastifyReply, _done: () => void) => {
      reply.hijack()
      void respond(request, reply.raw, deps, work)
    },
    handler: unreachable,
  })
  for (const route of routes) {
    const { method, path } = route
    fastify.route({
      method: methodsOf(method),
      url: API + path,
      ...answerBy((call) => runRoute(route, call, deps)),
    })
  }
  for (const route of rawRoutes) {
    const { method, path } = route
    fastify.route({
      method: methodsOf(method),
      url: path,
      ...answerBy((call) => {
        if (method !== 'GET') isTrial(call.query, false)
        return route.answer(call, deps)
      }),
    })
  }
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    reply.hijack()
    void answerUnknown(request, reply.raw, deps)
  })
  return fastify
}

/** HEAD is answered as GET is, by the same route; `send` leaves the body out. */
function methodsOf(method: Route['method']): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

/** Node takes no notice of an Upgrade, nor then of the end of a client that has sent half of its body. */
function answerHalf(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  const onEnd = () => {
    if (request.complete) return
    if (response.headersSent) socket.destroySoon()
    else answerMalformed(new Error('half a request'), socket)
  }
  socket.once('end', onEnd)
  response.once('close', () => socket.off('end', onEnd))
}

function unreachable(): never {
  throw new Error('a request got past its answer')
}

/** An unknown path or a wrong method: 401 without a good token, else the 404 of everything that is hidden. */
function answerUnknown(request: FastifyRequest, raw: ServerResponse, deps: Deps): Promise<void> {
  return respond(request, raw, deps, async (call) => {
    const actor = await deps.database.read((tx) => authenticate(tx, call, deps))
    deps.refusals.note({
      requestId: call.requestId,
      at: deps.clock.now(),
      actor,
      method: call.method,
      // A copy, since a part of a text keeps the whole in memory.
      path: Buffer.from(pathOf(request.raw).slice(0, MAX_NOTED_PATH), 'latin1').toString('latin1'),
      named: '{}',
      permission: null,
      reason: 'missing',
      found: undefined,
    })
    throw notFound()
  })
}

async function respond(
  request: FastifyRequest,
  raw: ServerResponse,
  deps: Deps,
  work: (call: Call) => Promise<Answer>,
): Promise<void> {
  if (mustWait(raw) && !(await turnOf(request.raw, raw))) return
  const requestId = nextRequestId()
  if (request.raw.headers.upgrade !== undefined) answerHalf(request.raw, raw)
  const call = new HttpCall(request, requestId, deps)
  let answer: Answer
  try {
    if (request.raw.httpVersion === '1.1' && request.raw.headers.host === undefined) throw hostIsMissing()
    refuseRepeatedHeaders(request.raw)
    const made = await work(call)
    releaseWhenSent(made, raw)
    answer = conditional(request.raw, made)
  } catch (error) {
    answer = failure(error, requestId, request, deps)
  }
  // A command's own server, in its own process, hides nothing from the command.
  if (isSteady(answer) && deps.operator === undefined) await untilNextStep(call.receivedAt)
  if (deps.log.isLevelEnabled('debug')) {
    const { method } = request.raw
    deps.log.debug({ requestId, method, path: pathOf(request.raw), status: answer.status }, 'answered')
  }
  send(request.raw, raw, answer, requestId, deps)?.catch((error: unknown) => {
    // Nothing more can be said to the client, who must not take what came for all.
    raw.destroy()
    const { method } = request.raw
    const about = { error, requestId, method, path: pathOf(request.raw) }
    if (isOfClient(error)) deps.log.debug(about, 'the client went away before its answer was sent')
    else if (error instanceof AppError) deps.log.warn(about, 'an answer broke off')
    else deps.log.error(about, 'an answer broke off')
  })
}

/** Whether the connection failed, and not what was sent over it. */
function isOfClient(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code !== undefined && /^(ERR_STREAM_|ECONN|EPIPE$|ETIMEDOUT$)/.test(code)
}

/** A promise when the body is a stream. */
function send(
  request: IncomingMessage,
  raw: ServerResponse,
  answer: Answer,
  requestId: string,
  { drain }: Deps,
): Promise<void> | undefined {
  const { body } = answer
  // Names and values in turn: what node:http takes fastest.
  const headers: (string | number)[] = ['x-content-type-options', 'nosniff', 'x-request-id', requestId]
  for (const name in answer.headers) headers.push(name, answer.headers[name] as string)
  // Refused with its body unread: the rest of a large one is not worth waiting for.
  const isClosing = mustClose(request, answer.status)
  if (isClosing || drain.isClosing) headers.push('connection', 'close')
  // What is left of a short one would be read as the next request.
  else if (!request.complete) request.resume()
  if (body instanceof Readable) {
    raw.writeHead(answer.status, headers)
    if (request.method !== 'HEAD') return pipeline(body, raw)
    body.destroy()
    raw.end()
    return undefined
  }
  const length = body === undefined ? 0 : Buffer.byteLength(body)
  if (body !== undefined) headers.push('content-length', length)
  raw.writeHead(answer.status, headers)
  if (isClosing) return endLingering(request, raw, body)
  // Node writes a short text together with the head, in half the time that a buffer beside it takes.
  if (body instanceof Buffer && length <= SHORT_BYTES) raw.end(body.toString('latin1'), 'latin1')
  // It is ASCII then, which need not be encoded.
  else if (typeof body === 'string' && length === body.length) raw.end(body, 'latin1')
  else raw.end(body)
  return undefined
}

/** Node takes the first of two, and a proxy before it may have judged the other. */
function refuseRepeatedHeaders({ rawHeaders }: IncomingMessage): void {
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts > 1) throw new AppError('bad-request', [{ detail: 'the header Host must be sent once' }])
  if (authorizations > 1) {
    throw new AppError('bad-request', [{ detail: 'the header Authorization must be sent once' }])
  }
}

function hostIsMissing(): AppError {
  return new AppError('bad-request', [{ detail: 'HTTP/1.1 requests need a Host header' }])
}

function failure(error: unknown, requestId: string, request: FastifyRequest, deps: Deps): Answer {
  if (error instanceof AppError) {
    const headers: Record<string, string> = {}
    if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer'
    if (error.code === 'unavailable') headers['retry-after'] = '1'
    if (request.raw.headers.host === undefined) headers.connection = 'close'
    return errorAnswer(statusOf(error.code), errorDocument(error), headers)
  }
  deps.log.error(
    { error, requestId, method: request.raw.method, path: pathOf(request.raw) },
    'a request failed',
  )
  return errorAnswer(500, internalErrorDocument(requestId))
}

/** 304 for a document that the client has: decided, like a 200, before this. */
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
  // Without the query and without an upload's signature: a log is no place for secrets.
  return (raw.url as string).split('?', 1)[0]?.replace(/(\/uploads?\/)[^/]+/, '$1…') as string
}
