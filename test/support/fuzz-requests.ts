import type { QueryParameter } from '../../src/jsonapi/parameters.ts'
import * as fc from 'fast-check'
import { bodySchema, type Schema } from '../../src/openapi/schemas.ts'
import type { AcceptedBody } from '../../src/jsonapi/body.ts'
import { bodyOf, hostileText, type Objects } from './fuzz-values.ts'

/** The fields of a route that requests are generated from. */
export type FuzzedRoute = {
  method: string
  /** The path from the root, with /api/v2. */
  path: string
  query?: Readonly<Record<string, QueryParameter>>
  accepts?: AcceptedBody
  takesBody: boolean
}

export type FuzzedRequest = { method: string; target: string; bytes: Buffer; endsEarly: boolean }

const methods = fc.constantFrom(
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
)

/** A value in one of `times` cases, otherwise undefined. */
function seldom<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ arbitrary: fc.constant(undefined), weight: times - 1 }, arbitrary)
}

/** Segments that are no ids, some of which look like ids. */
const oddSegment = fc.oneof(
  fc.constantFrom(
    '%',
    '%0',
    '%00',
    '%ff',
    '%2F',
    '%2e%2e',
    '..',
    '.',
    '',
    '*',
    '%e2%82',
    '__proto__',
    'a/b',
    ';x=1',
  ),
  fc.constantFrom(
    'team-',
    'team-1111111111111111',
    'ws-%00',
    'user-0000000000000000',
    'ou-',
    'x'.repeat(5_000),
  ),
  hostileText.map(encoded),
)

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 6_000)
}

const pathEnding = fc.constantFrom('/', '//', '/x', '.json', '%', '%00', '%2f', '\t', ';', '/..', '/../teams')

/** The ids that a parameter can stand for, by the segment before it. */
export function idsOf(path: string, parameter: string, objects: Objects): readonly string[] {
  const segments = path.split('/')
  const before = segments[segments.indexOf(`:${parameter}`) - 1] as string
  const key = parameter === 'workspace_name' ? 'workspace names' : before
  const ids = objects[key]
  if (ids === undefined || ids.length === 0) {
    throw new Error(`add objects of "${key}" to test/support/place.ts: ${path} asks for :${parameter}`)
  }
  return ids
}

function pathOf({ path }: FuzzedRoute, objects: Objects): fc.Arbitrary<string> {
  const segments = path.split('/').map((segment) => {
    if (!segment.startsWith(':')) return fc.constant(segment)
    const known = fc.constantFrom(...idsOf(path, segment.slice(1), objects))
    return fc.oneof({ arbitrary: known, weight: 9 }, oddSegment)
  })
  return fc
    .tuple(fc.tuple(...segments), seldom(20, pathEnding))
    .map(([parts, ending]) => parts.join('/') + (ending ?? ''))
}

const junkParameters = [
  'include',
  'page[number]',
  'page[size]',
  'page',
  'q',
  'filter[names]',
  '__proto__',
  'a[b][c]',
  '',
]

function queryOf({ query = {} }: FuzzedRoute): fc.Arbitrary<string> {
  const known = Object.keys(query)
  const words = Object.values(query).flatMap(({ values }) => values ?? [])
  const name = fc.constantFrom(...known, ...known, ...junkParameters)
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '1',
      '2',
      '0',
      '-1',
      '100',
      '101',
      '1e3',
      '9007199254740993',
      '999999999999999',
      'a,b',
      ',',
    ),
    fc.constantFrom('', ...words),
    fc.constantFrom('%', '%zz', '%00', '%ff', '+', '&', '=', 'x'.repeat(3_000)),
    hostileText.map(encoded),
  )
  const pair = fc
    .tuple(name, value, fc.boolean())
    .map(([key, text, isRaw]) => `${isRaw ? key : encodeURIComponent(key)}=${text}`)
  return fc.array(pair, { maxLength: 3 }).map((pairs) => (pairs.length === 0 ? '' : `?${pairs.join('&')}`))
}

const oddHeaders = fc.constantFrom(
  'Accept: text/html',
  'If-None-Match: *',
  'If-None-Match: "x", W/"y"',
  'Range: bytes=0-1',
  'Expect: 100-continue',
  'Expect: the-unexpected',
  'X-Forwarded-Proto: javascript',
  'X-Forwarded-Host: evil.example',
  'X-HTTP-Method-Override: DELETE',
  'Content-Encoding: gzip',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: gzip, chunked',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Connection: close',
  'Cookie: a=b',
  'Host: two.example',
  'X-Bad header: 1',
  ': empty',
  'X-Control: \u0001\u0002',
  'X-Latin: \u00e9\u00ff',
  `X-Long: ${'y'.repeat(20_000)}`,
)

const contentTypes = fc.constantFrom(
  'application/vnd.api+json',
  'application/vnd.api+json',
  'application/vnd.api+json',
  'application/json; charset=utf-8',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  ';',
  undefined,
)

const framings = [
  'length',
  'length',
  'length',
  'length',
  'chunked',
  'truncated',
  'broken chunks',
  'none',
] as const

/** Requests for a route, some well-formed and some not. */
export function requestsFor(
  route: FuzzedRoute,
  objects: Objects,
  tokens: readonly string[],
): fc.Arbitrary<FuzzedRequest> {
  const schema: Schema | undefined = route.accepts && bodySchema(route.accepts)
  const body = fc.oneof(
    { arbitrary: bodyOf(schema, objects).map((text) => Buffer.from(text.toWellFormed())), weight: 19 },
    { arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
  )
  const authorization = fc.oneof(
    { arbitrary: fc.constantFrom(...tokens).map((token) => `Bearer ${token}`), weight: 18 },
    fc.constantFrom(
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'bearer x',
      'Basic YTpi',
      `Bearer ${'z'.repeat(600)}`,
    ),
  )
  return fc
    .record({
      method: fc.oneof({ arbitrary: fc.constant(route.method), weight: 12 }, methods),
      path: pathOf(route, objects),
      query: queryOf(route),
      authorization,
      contentType: contentTypes,
      odd: seldom(12, oddHeaders),
      version: fc.oneof(
        { arbitrary: fc.constant('1.1'), weight: 60 },
        fc.constantFrom('1.0', '2.0', '1.1\r\nX: y'),
      ),
      hasHost: fc.oneof({ arbitrary: fc.constant(true), weight: 40 }, fc.constant(false)),
      body,
      framing: fc.constantFrom(...framings),
    })
    .map((parts) => assembled(parts, route.takesBody))
}

type Parts = {
  method: string
  path: string
  query: string
  authorization: string | undefined
  contentType: string | undefined
  odd: string | undefined
  version: string
  hasHost: boolean
  body: Buffer
  framing: (typeof framings)[number]
}

function assembled(parts: Parts, takesBody: boolean): FuzzedRequest {
  const { method, path, query, authorization, contentType, odd, version, hasHost, framing } = parts
  const hasBody = takesBody || framing === 'chunked'
  const target = path + query
  const lines = [`${method} ${target} HTTP/${version}`]
  if (hasHost) lines.push('Host: purser.example:80')
  if (authorization !== undefined) lines.push(`Authorization: ${authorization}`)
  if (contentType !== undefined && hasBody) lines.push(`Content-Type: ${contentType}`)
  if (odd !== undefined) lines.push(odd)
  const body = hasBody && framing !== 'none' ? framed(parts.body, framing, lines) : Buffer.alloc(0)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  // These requests promise a body that never comes, or have two lengths. Without a close both sides wait for ever.
  const endsEarly =
    framing === 'truncated' ||
    framing === 'broken chunks' ||
    /^(Content-Length|Transfer|Expect|Upgrade)/.test(odd ?? '')
  return { method, target, bytes: Buffer.concat([head, body]), endsEarly }
}

function framed(body: Buffer, framing: Parts['framing'], lines: string[]): Buffer {
  if (framing === 'length') {
    lines.push(`Content-Length: ${body.length}`)
    return body
  }
  if (framing === 'truncated') {
    lines.push(`Content-Length: ${body.length + 10}`)
    return body
  }
  lines.push('Transfer-Encoding: chunked')
  const half = Math.ceil(body.length / 2)
  const chunks = [body.subarray(0, half), body.subarray(half)].filter((chunk) => chunk.length > 0)
  const parts = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...parts, Buffer.from(framing === 'chunked' ? '0\r\n\r\n' : 'zz\r\n')])
}
