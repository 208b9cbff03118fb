import cluster from 'node:cluster'
import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { Config, ServerConfig } from './config.ts'
import { systemClock } from './core/clock.ts'
import { addressText } from './core/listen.ts'
import type { Database } from './database/database.ts'
import { Connections } from './http/connections.ts'
import { answerMetrics } from './metrics/metrics-server.ts'
import { metricsOf, type ReadMetrics } from './metrics/server-metrics.ts'
import { metricsOfWorkers, replyWithMetrics } from './metrics/worker-metrics.ts'
import { addressProblem, checkAddress, checkTls } from './operation/address.ts'
import { lockDataFolder, makeDataFolder } from './operation/data-folder.ts'
import { makeIndexesBeside } from './operation/indexes.ts'
import { createLog } from './operation/log.ts'
import { returnUnusedMemory } from './operation/memory.ts'
import { openPrepared, prepare, type Prepared } from './operation/prepare.ts'
import { warnings, welcome } from './operation/welcome.ts'
import { releaseLeases } from './outputs/output-job-store.ts'
import { buildPagesBeside } from './web-pages/sources.ts'
import { Workers } from './operation/workers.ts'

/** They need files that the address of the clients and the database must have, too. */
const MAX_METRICS_CONNECTIONS = 20

/** Migrates, serves, and exits with 0 after SIGTERM or SIGINT. Throws on bad settings before it changes anything. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.log)
  if (cluster.isWorker) await serveAsWorker(config, log)
  else await serveAsFirst(config, log)
}

async function serveAsFirst(config: Config, log: Logger): Promise<void> {
  checkTls(config)
  await checkAddress(config.listen, 'listen')
  if (config.metricsListen !== undefined) await checkAddress(config.metricsListen, 'metricsListen')
  const isSqlite = config.databaseUrl === undefined
  // With PostgreSQL the folder holds only a generated admin token, and many nodes may share it.
  if (isSqlite || config.adminToken === undefined) makeDataFolder(config.data)
  const lock = isSqlite ? lockDataFolder(config.data) : undefined
  const say = (line: string) => console.log(`purser: ${line}`)
  const prepared = await prepare(config, {
    clock: systemClock,
    isTerminal: process.stdout.isTTY,
    say,
  })
  // The lock proves that no other server runs on this folder. So jobs of a killed server can be resumed at once.
  if (isSqlite) await prepared.database.write(releaseLeases)
  for (const line of warnings(prepared, process.env)) console.error(`purser: ${line}`)
  const serving = await (config.workers > 1 ? serveByWorkers : serveHere)(prepared, log)
  stopOnSignals(serving, config, () => lock?.close())
  const { metricsListen } = config
  const measured = metricsListen === undefined ? [] : [await serveMetrics(metricsListen, serving.measure())]
  console.log([...welcome(prepared, serving.port), ...measured].join('\n'))
  buildPagesBeside(log)
  void makeIndexesBeside(config, log, say)
  returnUnusedMemory()
}

async function serveAsWorker(config: Config, log: Logger): Promise<void> {
  const prepared = await openPrepared(config)
  const serving = await serveHere(prepared, log)
  stopOnSignals(serving, config)
  if (config.metricsListen !== undefined) replyWithMetrics(serving.measure())
  returnUnusedMemory()
}

/** Serves them until the process ends, also while the server drains. Returns a line that says where. */
async function serveMetrics(listen: Config['listen'], read: ReadMetrics): Promise<string> {
  try {
    const connections = new Connections(MAX_METRICS_CONNECTIONS, () => {})
    const limit = (server: Server) => connections.follow(server)
    const port = await answerMetrics(read, limit, listen.host, listen.port)
    return `metrics at http://${addressText({ ...listen, port })}/metrics`
  } catch (error) {
    throw addressProblem(error, listen, 'metricsListen')
  }
}

type Serving = {
  readonly port: number
  /** Stops in an orderly way. The signal says whether there is time to wait. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>
  /** Tells `stop` not to wait any longer. */
  readonly hurry: (signal: NodeJS.Signals) => void
  /** Begins to measure. */
  readonly measure: () => ReadMetrics
}

async function serveHere(
  { config, database }: { config: ServerConfig; database: Database },
  log: Logger,
): Promise<Serving> {
  const { createApp } = await import('./app.ts')
  const app = createApp(config, database, log)
  const { drain } = app.deps
  try {
    return {
      port: await app.listen(config.listen.host, config.listen.port),
      stop: async (signal) => {
        if (signal === 'SIGTERM') await drain.wait(config.drainSeconds)
        await app.close()
      },
      hurry: () => drain.hurry(),
      measure: () => metricsOf(app.deps),
    }
  } catch (error) {
    await app.close()
    throw addressProblem(error, config.listen, 'listen')
  }
}

async function serveByWorkers({ config, database }: Prepared, log: Logger): Promise<Serving> {
  await database.close()
  const workers = new Workers(log, config.drainSeconds * 1_000 + STOP_MS)
  return {
    port: await workers.start(config.workers),
    stop: (signal) => workers.stop(signal),
    hurry: (signal) => workers.signal(signal),
    measure: metricsOfWorkers,
  }
}

/** One stop may arrive as several signals: from npm, from a terminal, or to a whole control group. */
const ONE_SIGNAL_MS = 500
/** Time for the running requests (see Drain) and then for pending writes. */
const STOP_MS = 40_000

function stopOnSignals(serving: Serving, { drainSeconds }: Config, last = () => {}): void {
  let signalledAt: number | undefined
  const end = (code: number) => {
    last()
    process.exit(code)
  }
  const stop = async (signal: NodeJS.Signals) => {
    setTimeout(
      () => {
        console.error('purser: could not stop in order: the database or a client takes too long')
        end(1)
      },
      drainSeconds * 1_000 + STOP_MS,
    ).unref()
    try {
      await serving.stop(signal)
      end(0)
    } catch (error) {
      console.error('purser: could not stop in order:', error)
      end(1)
    }
  }
  const onSignal = (signal: NodeJS.Signals) => {
    const before = signalledAt
    const now = performance.now()
    if (before !== undefined && now - before < ONE_SIGNAL_MS) return
    signalledAt = now
    if (before === undefined) void stop(signal)
    else serving.hurry(signal)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal)
}
