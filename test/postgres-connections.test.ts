import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../src/core/clock.ts'
import { PostgresDatabase } from '../src/database/postgres.ts'
import { sharedTime } from '../src/database/shared-clock.ts'
import { createPostgresDatabase } from './support/engines.ts'
import { onPostgres } from './support/on-each-engine.ts'

onPostgres('connections', (server, query) => {
  test(
    'those at work are not cut when the server refused a probe by itself',
    { timeout: 30_000 },
    async () => {
      const { database } = server.app.deps
      const ready = async () => (await fetch(`${server.address}/readyz`)).status
      expect(await ready()).toBe(200)
      const reading = database.read(({ db }) =>
        sql<{ done: number }>`select 1 as done, pg_sleep(3)`.execute(db),
      )
      await query("begin; update meta set value = 'x' where key like 'probe%'")
      await expect.poll(ready).toBe(503)
      await query('rollback')
      await expect.poll(ready).toBe(200)
      expect((await reading).rows[0]?.done).toBe(1)
    },
  )

  test('one whose first statement is not answered is given up', { timeout: 30_000 }, async () => {
    const { url, drop } = await createPostgresDatabase()
    const lost = await proxyThatLoses(
      Number(new URL(url).port),
      'plan_cache_mode = force_generic_plan; set jit',
    )
    const address = new URL(url)
    address.port = String(lost.port)
    const database = new PostgresDatabase(address.href)
    onTestFinished(async () => {
      await lost.close()
      await drop()
    })
    // It waits for the connections, so it would never end.
    await database.openConnections(Infinity)
    expect(lost.count).toBe(2)
    await database.close()
    await expect.poll(() => lost.open).toBe(0)
  })

  const databaseWith = async (settings: Record<string, string>) => {
    const { url, drop } = await createPostgresDatabase()
    const other = new Client(url)
    await other.connect()
    await other.query('create table meta (key text primary key, value text)')
    for (const [setting, value] of Object.entries(settings))
      await query(`alter database ${new URL(url).pathname.slice(1)} set ${setting} = '${value}'`)
    const database = new PostgresDatabase(url)
    onTestFinished(async () => {
      await database.close()
      await other.end()
      await drop()
    })
    return { database, other }
  }

  test('those of long work are ended by no timeout of the server', async () => {
    const { database, other } = await databaseWith({ lock_timeout: '200ms', statement_timeout: '200ms' })
    await other.query('begin; lock table meta')
    const works = [
      database.withConnection((db) => db.selectFrom('meta').selectAll().execute()),
      database.read(({ db }) => db.selectFrom('meta').selectAll().execute(), { isLong: true }),
    ]
    const found = Promise.all(works)
    await Promise.race([found, pause(1_000)])
    await other.query('rollback')
    expect(await found).toEqual([[], []])
  })

  test('those that are idle stay although the server ends idle ones', async () => {
    const { database } = await databaseWith({ idle_session_timeout: '500ms' })
    const session = () =>
      database.read(async ({ db }) => (await sql`select pg_backend_pid() as pid`.execute(db)).rows)
    const first = await session()
    await pause(1_000)
    expect(await session()).toEqual(first)
  })

  test('the time of the database does not depend on how it writes times', async () => {
    const { url, drop } = await createPostgresDatabase()
    onTestFinished(drop)
    const name = new URL(url).pathname.slice(1)
    await query(`alter database ${name} set datestyle = 'German'`)
    await query(`alter database ${name} set extra_float_digits = -15`)
    const database = new PostgresDatabase(url)
    const time = await database.read((tx) => sharedTime(tx, systemClock))
    await database.close()
    expect(Math.abs(time.getTime() - Date.now())).toBeLessThan(5_000)
  })
})

/** Passes everything on, until a client sends this text: then nothing more goes through its connection. */
async function proxyThatLoses(target: number, text: string) {
  const sockets = new Set<Socket>()
  const state = { port: 0, count: 0, close: async () => {}, open: 0 }
  const server = createServer((client) => {
    const up = connect(target, '127.0.0.1')
    let isLost = false
    state.open += 1
    client.once('close', () => (state.open -= 1))
    for (const socket of [client, up]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => (socket === client ? up : client).destroy())
    }
    client.on('data', (bytes) => {
      if (bytes.includes(text)) {
        isLost = true
        state.count += 1
      }
      if (!isLost) up.write(bytes)
    })
    up.on('data', (bytes) => {
      if (!isLost) client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state.port = (server.address() as AddressInfo).port
  state.close = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return state
}
