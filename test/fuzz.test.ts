import * as fc from 'fast-check'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawRoutes, routes } from '../src/app.ts'
import type { AcceptedBody } from '../src/jsonapi/body.ts'
import { asksForFields, Conformity } from './support/conformity.ts'
import { engines } from './support/engines.ts'
import { requestsFor, type FuzzedRequest, type FuzzedRoute } from './support/fuzz-requests.ts'
import { isLong } from './support/runs.ts'
import { createPlace, type Place } from './support/place.ts'
import { RawClient, type RawAnswer } from './support/raw-client.ts'
import { startServer, type TestServer } from './support/server.ts'
import { createUser } from './support/world.ts'

const CONNECTIONS = 8
/** This many requests use one organization. Then comes a new one, because some requests delete what others need. */
const ROUND = 400

/** PURSER_FUZZ_SEED=…: the seed of the first round, which a failure prints. Each round adds one. */
const firstSeed = Number(process.env.PURSER_FUZZ_SEED ?? Math.floor(Math.random() * 1_000_000_000))
const requests = Number(process.env.PURSER_FUZZ_REQUESTS ?? (isLong ? 2_000_000 : 3_000))

const fuzzed: readonly FuzzedRoute[] = [
  ...routes.map((route) => {
    const { accepts, body, query } = route as {
      accepts?: AcceptedBody
      body?: unknown
      query?: FuzzedRoute['query']
    }
    return {
      method: route.method,
      path: `/api/v2${route.path}`,
      query,
      accepts,
      takesBody: body !== undefined,
    }
  }),
  ...rawRoutes.map(({ method, path, query, accepts }) => ({
    method,
    path,
    query,
    accepts,
    takesBody: method !== 'GET',
  })),
]

describe.each(engines)('fuzzing on %s', (engine) => {
  const conformity = new Conformity()
  const complaints: string[] = []
  const log = pino(
    { level: 'error', serializers: { error: pino.stdSerializers.err } },
    { write: (line: string) => void complaints.push(line) },
  )
  let server: TestServer
  let clients: RawClient[] = []
  beforeAll(async () => {
    server = await startServer(engine, {}, log)
    clients = Array.from({ length: CONNECTIONS }, () => new RawClient(Number(new URL(server.address).port)))
  })
  afterAll(async () => {
    for (const client of clients) client.close()
    await server.stop()
  })

  async function play(seed: number): Promise<Map<number, number>> {
    const [place, other] = [await createPlace(server), await createPlace(server)]
    const outsider = await createUser(server, 'outsider')
    const people = [place.organization.owner, place.organization.owner, other.organization.owner, outsider]
    const tokens = [...people.map(({ client }) => client.token as string), server.admin.token as string]
    const objects = mixed(place, other)
    const all = fc.oneof(...fuzzed.map((route) => requestsFor(route, objects, tokens)))
    const waiting = fc.sample(all, { seed, numRuns: ROUND })
    // The most destructive requests come last: the list is taken from its end.
    waiting.sort((a, b) => Number(isDestructive(b)) - Number(isDestructive(a)))
    const statuses = new Map<number, number>()
    const work = async (client: RawClient) => {
      for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
        const answer = await client.send({ ...request, isHead: request.method === 'HEAD' })
        const problem = complaints.shift() ?? problemOf(request, answer)
        if (problem !== undefined) {
          throw new Error(`${problem}\nPURSER_FUZZ_SEED=${seed}\n${inspect(request.bytes)}`)
        }
        const { status = 0 } = answer
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(clients.map(work))
    expect((await server.admin.get('/ping')).status).toBe(204)
    return statuses
  }

  /** Objects of two organizations. The people of the first are not in the second. */
  function mixed(place: Place, other: Place): Record<string, string[]> {
    return Object.fromEntries(
      Object.entries(place.objects).map(([type, ids]) => [
        type,
        [...ids, ...ids, ...(other.objects[type] ?? [])],
      ]),
    )
  }

  function problemOf({ method, target }: FuzzedRequest, answer: RawAnswer): string | undefined {
    const { status, headers, body } = answer
    // Even an incomplete request must get an answer while its sender still reads.
    if (status === undefined) return `${method} ${target} got no answer`
    if (status === 500) return `${method} ${target} answered 500`
    const seen = { status, headers, text: body.toString() }
    // A request that is not valid HTTP is refused before the server looks for a route.
    if (method === 'HEAD' && seen.text === '') return undefined
    if ([400, 413, 417, 431].includes(status) && headers.get('connection') === 'close') {
      return conformity.errorProblem(seen)
    }
    return conformity.problem(method, pathOf(target), seen, asksForFields(target))
  }

  test(
    `${requests} requests, from seed ${firstSeed}: no 500, and no answer outside the OpenAPI document`,
    async () => {
      const rounds = Math.ceil(requests / ROUND)
      const statuses = new Map<number, number>()
      for (let round = 0; round < rounds; round++) {
        for (const [status, count] of await play(firstSeed + round)) {
          statuses.set(status, (statuses.get(status) ?? 0) + count)
        }
        if (isLong && round % 50 === 49) {
          console.log(
            `${(round + 1) * ROUND} requests, next seed ${firstSeed + round + 1}: ${summary(statuses)}`,
          )
        }
      }
      console.log(summary(statuses))
      // If all requests were refused, the test would prove little.
      expect(statuses.get(200)).toBeGreaterThan(requests / 50)
      expect(complaints).toEqual([])
    },
    isLong ? 24 * 3_600_000 : 120_000,
  )
})

function isDestructive({ method, target }: FuzzedRequest): boolean {
  return (
    /suspend|revoke/.test(target) ||
    (method === 'DELETE' && /^\/api\/v2\/(organizations|admin\/users)\/[^/]+$/.test(target))
  )
}

function pathOf(target: string): string {
  return (target.split('?', 1)[0] as string).replace(/%(?!2f|25)[0-9a-f]{2}/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return /[\x20-\x7e]/.test(character) ? character : code
  })
}

function summary(statuses: ReadonlyMap<number, number>): string {
  const sorted = [...statuses].toSorted(([a], [b]) => a - b)
  return sorted.map(([status, count]) => `${status} × ${count}`).join(', ')
}

function inspect(bytes: Buffer): string {
  return JSON.stringify(bytes.toString('latin1').slice(0, 2_000))
}
