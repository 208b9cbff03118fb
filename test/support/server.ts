import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino, { type Logger } from 'pino'
import { createApp, type App } from '../../src/app.ts'
import { AuditKey } from '../../src/audit/audit-links.ts'
import { readConfig, type SettingName } from '../../src/config.ts'
import { systemClock, type Clock } from '../../src/core/clock.ts'
import { makeLaterIndexes } from '../../src/database/later-indexes.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { makeFirstUser } from '../../src/first-start.ts'
import { Client } from './client.ts'
import { createPostgresDatabase, moveDatabaseClock, type Engine } from './engines.ts'

export type TestServer = {
  engine: Engine
  app: App
  /** The folder of this server's data. Deleted by `stop`. */
  folder: string
  /** `http://127.0.0.1:PORT` */
  address: string
  /** A client with the site administrator's token. */
  admin: Client
  client: (token?: string) => Client
  /** Moves only the server's own clock. */
  clock: TestClock
  /** Moves the clocks of the server and its database by whole seconds, as if no server had been running. */
  jumpTime: (milliseconds: number) => Promise<void>
  /** The same, as if a server had been running all the time. */
  passTime: (milliseconds: number) => Promise<void>
  /** For PostgreSQL: its database, to start a second node on it. */
  databaseUrl: string | undefined
  stop: () => Promise<void>
}

/** The machine's clock, shifted. */
export class TestClock implements Clock {
  #shiftMs = 0
  now(): Date {
    return new Date(systemClock.now().getTime() + this.#shiftMs)
  }
  advance(milliseconds: number): void {
    this.#shiftMs += milliseconds
  }
}

const ADMIN_TOKEN = 'the-admin-token-of-the-tests'
/** Some tests write as fast as they can. */
export const MANY_WRITES = '10000000'
const SECRET_KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'

/** A real server on a new, real database and a free port. */
export async function startServer(
  engine: Engine,
  settings: Partial<Record<SettingName, string>> = {},
  log: Logger = pino({ level: process.env.PURSER_TEST_LOG ?? 'fatal' }),
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-test-'))
  const postgres =
    engine === 'postgres' && settings.databaseUrl === undefined ? await createPostgresDatabase() : undefined
  const config = readConfig(
    {
      data: folder,
      secretKey: SECRET_KEY,
      log: 'error',
      listen: '127.0.0.1:0',
      maxWritesPerMinute: MANY_WRITES,
      ...(postgres === undefined ? {} : { databaseUrl: postgres.url }),
      ...settings,
    },
    {},
  )
  const { database, withConnection } = await openDatabase(config)
  await withConnection(migrate)
  await withConnection(makeLaterIndexes)
  const clock = new TestClock()
  await makeFirstUser(database, clock, new AuditKey(config.secretKey as Buffer), {
    token: ADMIN_TOKEN,
  })
  const app = createApp({ ...config, secretKey: config.secretKey as Buffer }, database, log, clock)
  const jumpTime = async (milliseconds: number) => {
    clock.advance(milliseconds)
    if (config.databaseUrl !== undefined) await moveDatabaseClock(config.databaseUrl, milliseconds)
  }
  const address = `http://127.0.0.1:${await app.listen('127.0.0.1', 0)}`
  const client = (token?: string) => new Client(address, token)
  return {
    engine,
    app,
    folder,
    address,
    admin: client(ADMIN_TOKEN),
    client,
    clock,
    jumpTime,
    passTime: async (milliseconds) => {
      await jumpTime(milliseconds)
      await database.write((tx) => tx.db.deleteFrom('meta').where('key', '=', 'retention-clock').execute())
    },
    databaseUrl: config.databaseUrl,
    stop: async () => {
      await app.close()
      await postgres?.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts another node on the database of the server. On SQLite it is like another worker. */
export function startNode(
  { engine, databaseUrl, folder }: TestServer,
  settings: Partial<Record<SettingName, string>> = {},
): Promise<TestServer> {
  const place = databaseUrl === undefined ? { data: folder } : { databaseUrl }
  return startServer(engine, { ...place, ...settings })
}
