import cluster from 'node:cluster'
import type { Logger } from 'pino'
import type { Config, ServerConfig } from './config.ts'
import { systemClock } from './core/clock.ts'
import type { Database } from './database/database.ts'
import { addressProblem, checkAddress, checkTls } from './operation/address.ts'
import { lockDataFolder, makeDataFolder } from './operation/data-folder.ts'
import { createLog } from './operation/log.ts'
import { returnUnusedMemory } from './operation/memory.ts'
import { openPrepared, prepare, type Prepared } from './operation/prepare.ts'
import { warnings, welcome } from './operation/welcome.ts'
import { releaseLeases } from './state-versions/state-job-store.ts'
import { Workers } from './operation/workers.ts'

/** Migrates, serves, and ends with 0 on SIGTERM or SIGINT. Throws what is wrong before anything is touched. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.log)
  if (cluster.isWorker) await serveAsWorker(config, log)
  else await serveAsFirst(config, log)
}

async function serveAsFirst(config: Config, log: Logger): Promise<void> {
  checkTls(config)
  await checkAddress(config.listen)
  const isSqlite = config.databaseUrl === undefined
  // With PostgreSQL the folder is for a generated admin token alone, and many nodes may share it.
  if (isSqlite || config.adminToken === undefined) makeDataFolder(config.data)
  const lock = isSqlite ? lockDataFolder(config.data) : undefined
  const prepared = await prepare(config, {
    clock: systemClock,
    onError: (error) => log.warn({ error }, 'a database connection was lost'),
    say: (line) => console.log(`purser: ${line}`),
  })
  // Under the folder's lock there is no other server: what a killed one was working on is taken up at once.
  if (isSqlite) await prepared.database.write(releaseLeases)
  for (const line of warnings(prepared.config, process.env)) console.error(`purser: ${line}`)
  const { port, stop } = await (config.workers > 1 ? serveByWorkers : serveHere)(prepared, log)
  stopOnSignals(async () => {
    await stop()
    lock?.release()
  })
  console.log(welcome(prepared, port).join('\n'))
  returnUnusedMemory()
}

async function serveAsWorker(config: Config, log: Logger): Promise<void> {
  const prepared = await openPrepared(config, (error) =>
    log.warn({ error }, 'a database connection was lost'),
  )
  const { stop } = await serveHere(prepared, log)
  stopOnSignals(stop)
  returnUnusedMemory()
}

type Serving = { port: number; stop: () => Promise<void> }

async function serveHere(
  { config, database }: { config: ServerConfig; database: Database },
  log: Logger,
): Promise<Serving> {
  const { createApp } = await import('./app.ts')
  const app = createApp(config, database, log)
  try {
    return { port: await app.listen(config.listen.host, config.listen.port), stop: () => app.close() }
  } catch (error) {
    await app.close()
    throw addressProblem(error, config.listen)
  }
}

async function serveByWorkers({ config, database }: Prepared, log: Logger): Promise<Serving> {
  await database.close()
  const workers = new Workers(log)
  return { port: await workers.start(config.workers), stop: () => workers.stop() }
}

function stopOnSignals(stop: () => Promise<void>): void {
  let isStopping = false
  // Kept to the end: Ctrl-C below npm arrives twice, from the terminal and from npm.
  const begin = () => {
    if (isStopping) return
    isStopping = true
    void stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error('purser: could not stop in order:', error)
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, begin)
}
