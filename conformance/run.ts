// npm run conformance [-- PATTERN…]: runs real clients against a Purser that it starts. With patterns, only the tests
// whose names match. Runs again on PostgreSQL if PURSER_TEST_POSTGRES_URL is set. With --record it runs everything on
// SQLite and notes in requests.json which test shows which operation. With --build it only builds and installs the clients.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import {
  buildTools,
  checkGoCode,
  programModules,
  requireGo,
  runGoTests,
  runPatientTests,
  type Dialect,
  type Tally,
  type Tools,
} from './go.ts'
import { faultyPlaces, judgeOnPostgres, judgeOnSqlite } from './histories.ts'
import { ownTestsSettings, runOwnTests } from './own-tests.ts'
import { installPython, runPython } from './python.ts'
import { runGeneratedClients } from './openapi/generated-clients.ts'
import { pythonProgram } from './openapi/python-programs.ts'
import { runSchemathesis } from './openapi/schemathesis.ts'
import { createOwner } from './openapi/world.ts'
import { writeRecorded } from './record.ts'
import { startPurser, tofuConfig, type Purser } from './server.ts'

const isRecording = process.argv[2] === '--record'
const isBuilding = process.argv[2] === '--build'
const patterns = isRecording || isBuilding ? [] : process.argv.slice(2)
// Fixed, because a database keeps the token of its first start, and on PostgreSQL the second dialect uses it again.
const token = `conformance-${randomBytes(24).toString('hex')}`
const isWhole = patterns.length === 0 && !isRecording
const postgres = process.env['PURSER_TEST_POSTGRES_URL'] || undefined
type Engine = 'SQLite' | 'PostgreSQL'
type AllTools = Tools & { python: string }
const total: Tally = { passed: 0, failed: 0 }
/** The server's name in the programs' configurations. No resolver knows it. */
const tofuHostname = 'purser.example.com'
const running = new Set<Purser>()

// While it builds, a signal ends it at once.
for (const signal of isBuilding ? [] : (['SIGINT', 'SIGTERM'] as const)) {
  process.on(signal, () => {
    void Promise.all(Array.from(running, (server) => server.stop())).then(() => process.exit(1))
  })
}

function add(what: string, tally: Tally): void {
  total.passed += tally.passed
  total.failed += tally.failed
  process.stdout.write(
    `conformance: ${what}: ${tally.passed} passed, ${tally.failed} failed, after ${Math.round(process.uptime())} s\n`,
  )
}

/** Starts a server for the work, and checks that it stops cleanly. */
async function onServer(
  name: string,
  settings: Record<string, string>,
  work: (server: Purser) => Promise<void>,
): Promise<void> {
  const server = await startPurser({ ...settings, PURSER_ADMIN_TOKEN: token })
  running.add(server)
  const before = total.failed
  try {
    await work(server)
  } finally {
    const code = await server.stop()
    running.delete(server)
    add(`orderly end on ${name}`, code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })
  }
  if (total.failed > before) process.stdout.write(`conformance: the server's last words:\n${server.tail()}\n`)
}

/**
 * What the programs are told. The programs of OpenTofu run with each of its two versions in one dialect on each engine, all
 * others with the newer version.
 */
function environmentOf(
  { address }: Purser,
  dialect: Dialect,
  tools: Tools,
  module?: string,
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PURSER_ADDRESS: address,
    PURSER_TOKEN: token,
    PURSER_DIALECT: dialect,
    PURSER_TOFU: module === 'tofu' && dialect === 'current' ? tools.olderTofu : tools.tofu,
    PURSER_TERRAFORM: tools.terraform,
    PURSER_PROVIDER: tools.provider,
    PURSER_TOFU_CONFIG: tofuConfig(address, tofuHostname),
  }
}

/**
 * The provider takes half of the time of all programs. So a whole run uses it in one dialect on each engine; the long mode,
 * and a run of some tests, in both.
 */
function modulesOn(engine: Engine, dialect: Dialect): string[] {
  const isShort = isWhole && postgres !== undefined && process.env['PURSER_TEST_LONG'] !== '1'
  const isOnTheOtherEngine = (engine === 'SQLite') !== (dialect === 'documented')
  return isShort && isOnTheOtherEngine
    ? programModules.filter((module) => module !== 'provider')
    : programModules
}

/** Runs the programs of a dialect against one server. */
async function runDialect(
  engine: Engine,
  dialect: Dialect,
  settings: Record<string, string>,
  tools: AllTools,
): Promise<void> {
  const name = `${engine}, ${dialect}`
  await onServer(name, { ...settings, PURSER_DIALECT: dialect }, async (server) => {
    for (const module of modulesOn(engine, dialect)) {
      const environment = environmentOf(server, dialect, tools, module)
      add(`${module} on ${name}`, await runGoTests(module, environment, dialect, patterns))
    }
    add(
      `clients in Python on ${name}`,
      await runPython(tools.python, environmentOf(server, dialect, tools), patterns),
    )
  })
}

async function runPrograms(engine: Engine, settings: Record<string, string>, tools: AllTools): Promise<void> {
  for (const dialect of ['documented', 'current'] as const) await runDialect(engine, dialect, settings, tools)
}

/** Runs go-tfe's own tests. They test the interface, so one engine is enough. Programs that wait do so meanwhile. */
async function runTestsOfGoTfe(tools: Tools): Promise<void> {
  await onServer("SQLite, for go-tfe's own tests", ownTestsSettings, async (server) => {
    const waiting = runPatientTests(environmentOf(server, 'current', tools), patterns)
    add("go-tfe's own tests", await runOwnTests(server.address, token, patterns))
    add('programs that wait', await waiting)
  })
}

/** Per caller, in seconds. */
const SCHEMATHESIS_SECONDS = 25

/** Tests the description of the interface: generates clients from it, and sends requests that it allows and others. */
async function runDescription(): Promise<void> {
  await onNewServer(async ({ address }) =>
    add('clients made from openapi.json', await runGeneratedClients(address, token)),
  )
  // On a separate server: compiling clients takes minutes, and connections to the first server may have ended by then.
  await onNewServer(async ({ address }) => {
    const owner = await createOwner(address, token)
    const bounds = { seconds: SCHEMATHESIS_SECONDS, seed: process.env['PURSER_FUZZ_SEED'] ?? '20261122' }
    add('schemathesis as an owner', await runSchemathesis(address, owner, bounds))
    add('schemathesis as a site administrator', await runSchemathesis(address, token, bounds))
  })
}

async function onNewServer(work: (server: Purser) => Promise<void>): Promise<void> {
  const server = await startPurser({ PURSER_ADMIN_TOKEN: token })
  running.add(server)
  try {
    await work(server)
  } finally {
    await server.stop()
    running.delete(server)
  }
}

/** Runs everything and notes the requests. Writes the notes unless a test failed. */
async function record(tools: AllTools): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'purser-conformance-notes-'))
  const notes = join(folder, 'requests')
  process.env['PURSER_RECORD'] = notes
  try {
    await runPrograms('SQLite', {}, tools)
    if (total.failed === 0) writeRecorded(notes)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Creates an empty database in the given cluster, runs the work with its URL, and drops it afterwards. */
async function withDatabase(url: string, work: (databaseUrl: string) => Promise<void>): Promise<void> {
  const name = `purser_conformance_${randomBytes(6).toString('hex')}`
  await administer(url, `create database ${name}`)
  try {
    const own = new URL(url)
    own.pathname = `/${name}`
    await work(own.href)
  } finally {
    await administer(url, `drop database ${name} with (force)`)
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function runOnPostgres(tools: AllTools): Promise<void> {
  if (postgres === undefined) return
  await withDatabase(postgres, (url) =>
    runPrograms(
      'PostgreSQL',
      { PURSER_DATABASE_URL: url, PURSER_SECRET_KEY: randomBytes(32).toString('hex') },
      tools,
    ),
  )
}

async function runHistories(): Promise<void> {
  if (!isWhole && !patterns.some((pattern) => /Histor/.test(pattern))) return
  add('histories on SQLite', await judgeOnSqlite(token, patterns))
  for (const kind of faultyPlaces) {
    add(`histories on PostgreSQL, ${kind}`, await judgeOnPostgres(token, patterns, kind))
  }
}

/**
 * One program at a time leaves a part of two cores idle, so two chains of them run beside each other. The histories run
 * beside both, because they mostly wait while the database is away.
 */
async function runAll(tools: AllTools): Promise<void> {
  const chains = await Promise.allSettled([
    runPrograms('SQLite', {}, tools).then(() => (isWhole ? runDescription() : undefined)),
    runOnPostgres(tools).then(() => runTestsOfGoTfe(tools)),
    runHistories(),
  ])
  for (const chain of chains) if (chain.status === 'rejected') throw chain.reason
}

try {
  requireGo()
  add('Go code', checkGoCode())
  const tools = { ...buildTools(), python: installPython() }
  // Now, because an installation lets everything else wait: the faults of the histories, too.
  if (isWhole) pythonProgram('python')
  if (isRecording) await record(tools)
  else if (!isBuilding) await runAll(tools)
} catch (error) {
  total.failed++
  process.stdout.write(`conformance: ${error instanceof Error ? error.message : String(error)}\n`)
}
process.stdout.write(`${total.passed} passed, ${total.failed} failed\n`)
process.exitCode = total.failed === 0 ? 0 : 1
