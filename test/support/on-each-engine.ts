import { Client as PostgresClient, type QueryResult } from 'pg'
import { afterAll, beforeAll, describe } from 'vitest'
import type { SettingName } from '../../src/config.ts'
import { engines, onlyPostgres, type Engine } from './engines.ts'
import { startServer, type TestServer } from './server.ts'

type Tests = (server: TestServer, engine: Engine) => void
type Settings = Partial<Record<SettingName, string>>

/**
 * Describes tests on each engine. They share one server, which starts before the first test and stops after the last
 * one. It can be used in tests and hooks only, not while the tests are described.
 */
export function onEachEngine(what: string, tests: Tests): void
export function onEachEngine(what: string, settings: Settings, tests: Tests): void
export function onEachEngine(what: string, ...rest: [Tests] | [Settings, Tests]): void {
  const [settings, tests] = rest.length === 1 ? [{}, rest[0]] : rest
  describe.each(engines)(`${what} on %s`, (engine) => {
    const server = {} as TestServer
    beforeAll(async () => {
      Object.assign(server, await startServer(engine, settings))
    })
    afterAll(() => server.stop())
    tests(server, engine)
  })
}

type Query = (text: string, values?: unknown[]) => Promise<QueryResult>

/** The same on PostgreSQL alone. `query` runs SQL beside the server, on one connection. */
export function onPostgres(what: string, tests: (server: TestServer, query: Query) => void): void {
  describe.each(onlyPostgres)(`${what} on %s`, (engine) => {
    const server = {} as TestServer
    let client: PostgresClient
    beforeAll(async () => {
      Object.assign(server, await startServer(engine))
      client = new PostgresClient(server.databaseUrl)
      await client.connect()
    })
    afterAll(async () => {
      await client.end()
      await server.stop()
    })
    tests(server, (text, values) => client.query(text, values))
  })
}
