import { mkdirSync, writeFileSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pino from 'pino'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { systemClock } from './core/clock.ts'
import { migrate } from './database/migrate.ts'
import { openDatabase } from './database/open.ts'
import { makeFirstUser } from './first-start.ts'

/** Migrates, serves, and ends with 0 on SIGTERM or SIGINT. */
export async function serve(config: Config): Promise<void> {
  const log = pino({ level: config.log })
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  const { database, withConnection } = openDatabase(config, (error) =>
    log.warn({ error }, 'database connection lost'),
  )
  await withConnection(migrate)
  const first = await makeFirstUser(database, systemClock, config.adminToken)
  if (first !== undefined && config.adminToken === undefined) {
    writeFileSync(join(config.data, 'admin-token'), `${first.token}\n`, { mode: 0o600 })
    console.log(`admin token (also in ${join(config.data, 'admin-token')}): ${first.token}`)
  }
  config.secretKey ??= randomBytes(32)
  const app = createApp(config, database, log)
  const port = await app.listen(config.listen.host, config.listen.port)
  let isStopping = false
  // Kept to the end: Ctrl-C below npm arrives twice, from the terminal and from npm.
  const stop = () => {
    if (isStopping) return
    isStopping = true
    void app.close().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  console.log(`Purser serves at http://${config.listen.host}:${port}`)
}
