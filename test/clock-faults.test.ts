import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { auditRetention } from '../src/audit/audit-retention.ts'
import { verifyAuditTrail } from '../src/audit/audit-verify.ts'
import { StateSweep } from '../src/state-content/state-sweep.ts'
import { Client } from './support/client.ts'
import { ClockedWorkspace, KEPT, type Random } from './support/clocked-workspace.ts'
import { engines, type Engine } from './support/engines.ts'
import { FakeClock } from './support/fake-clock.ts'
import { ADMIN_TOKEN, Purser, run, settingsFor, temporaryFolder } from './support/purser.ts'
import { isLong } from './support/runs.ts'
import { startServer } from './support/server.ts'
import { lock } from './support/states.ts'
import { body, uniqueName } from './support/world.ts'

// The normal mode uses a fixed seed, so that each run is the same.
const SEED = Number(process.env.PURSER_CLOCK_SEED ?? (isLong ? randomInt(2 ** 31) : 20261122))
const MINUTES = Number(process.env.PURSER_CLOCK_MINUTES ?? 10)
const STEPS = 25
const WORKSPACES = 3
const TWO_HOURS_MS = 2 * 3_600_000
const JUMPS_MS = [0, 5_000, -5_000, 120_000, -120_000, TWO_HOURS_MS, -TWO_HOURS_MS]

/** The random generator Mulberry32. */
function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

type Node = {
  client: Client
  /** Shifts the server's clock by this time from the real one. */
  moveTo: (milliseconds: number) => void
  /** Runs the server's periodic background work. */
  sweep: () => Promise<void>
}

type Nodes = { nodes: Node[]; end: () => Promise<void> }

/** Servers in this process, each with its own clock. On SQLite only one. */
async function nodesInside(engine: Engine): Promise<Nodes> {
  const settings = { stateVersionsKept: String(KEPT), deletedStateDays: '1', auditDays: '1' }
  const first = await startServer(engine, settings)
  const { databaseUrl } = first
  const second =
    databaseUrl === undefined ? undefined : await startServer(engine, { ...settings, databaseUrl })
  const servers = second === undefined ? [first] : [first, second]
  onTestFinished(async () => {
    for (const server of servers.toReversed()) await server.stop()
  })
  const silent = pino({ level: 'silent' })
  const nodes = servers.map(({ address, clock, app: { deps } }): Node => {
    const { database, config, auditKey } = deps
    const sweep = new StateSweep(database, config, clock, silent)
    let moved = 0
    return {
      client: new Client(address, first.admin.token),
      moveTo: (milliseconds) => {
        clock.advance(milliseconds - moved)
        moved = milliseconds
      },
      sweep: async () => {
        await sweep.sweep()
        const retention = auditRetention(database, auditKey, clock, silent, config.auditDays)
        await retention.run()
        await retention.stop()
      },
    }
  })
  const end = async () => {
    const { database, auditKey } = first.app.deps
    expect((await database.read((tx) => verifyAuditTrail(tx, auditKey))).problem).toBeUndefined()
  }
  return { nodes, end }
}

/** Servers as separate processes, whose clocks are moved from outside. On SQLite only one. */
async function nodesOutside(engine: Engine): Promise<Nodes> {
  const settings = {
    ...(await settingsFor(engine)),
    PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
    PURSER_STATE_VERSIONS_KEPT: String(KEPT),
    PURSER_DELETED_STATE_DAYS: '1',
    PURSER_AUDIT_DAYS: '1',
    PURSER_LOG: 'error',
  }
  const folder = temporaryFolder()
  const clocks = Array.from(
    { length: engine === 'postgres' ? 2 : 1 },
    (_, n) => new FakeClock(join(folder, `${n}`)),
  )
  const pursers: Purser[] = []
  const nodes: Node[] = []
  for (const clock of clocks) {
    const purser = new Purser(['serve'], { ...settings, ...clock.environment })
    pursers.push(purser)
    const client = new Client(await purser.address(), ADMIN_TOKEN)
    nodes.push({
      client,
      moveTo: (milliseconds) => clock.moveTo(milliseconds),
      sweep: () => Promise.resolve(),
    })
  }
  const end = async () => {
    const doctor = await run(['doctor', '--content'], settings)
    expect(doctor.stdout).toMatch(/^good +content +/m)
    for (const purser of pursers) {
      expect(await purser.stop()).toBe(0)
      expect(purser.stderr).toBe('')
    }
    expect(await run(['audit', 'verify'], settings)).toMatchObject({ code: 0, stderr: '' })
  }
  return { nodes, end }
}

test.each(engines)(
  `clocks that jump by up to two hours, both ways, on %s: nothing acknowledged is lost, nothing changes its order (seed ${SEED})`,
  async (engine) => {
    const { nodes, end } = await (isLong ? nodesOutside : nodesInside)(engine)
    const [first] = nodes as [Node]
    const organization = uniqueName('organization')
    const made = await first.client.post(
      '/organizations',
      body('organizations', { name: organization, email: 'o@example.com' }),
    )
    expect(made.status, made.text).toBe(201)
    const events = async () =>
      (await first.client.get(`/organizations/${organization}/audit-events`)).json.meta.pagination[
        'total-count'
      ] as number

    const until = performance.now() + MINUTES * 60_000
    let [jumps, steps, seen] = [0, 0, 0]
    const work = async (place: number): Promise<ClockedWorkspace> => {
      const random = randomFrom(SEED + place)
      const any = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
      const name = uniqueName('workspace')
      const { json } = await first.client.post(
        `/organizations/${organization}/workspaces`,
        body('workspaces', { name }),
      )
      await lock(first.client, json.data.id)
      const workspace = new ClockedWorkspace(organization, name, json.data.id)
      for (let step = 0; isLong ? performance.now() < until : step < STEPS; step++) {
        if (random() < 0.5) {
          any(nodes).moveTo(any(JUMPS_MS))
          jumps += 1
        }
        if (random() < 0.3) await any(nodes).sweep()
        await workspace.step(random, () => any(nodes).client)
        steps += 1
        if (place === 0 && step % 10 === 0) {
          const now = await events()
          expect(now).toBeGreaterThanOrEqual(seen)
          seen = now
        }
      }
      return workspace
    }
    const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, place) => work(place)))
    for (const { moveTo, sweep } of nodes) {
      moveTo(0)
      await sweep()
    }
    for (const workspace of workspaces) for (const { client } of nodes) await workspace.check(client)
    const sum = (of: (workspace: ClockedWorkspace) => number) =>
      workspaces.reduce((all, one) => all + of(one), 0)
    const figures = {
      jumps,
      steps,
      acknowledged: sum((one) => one.acknowledged),
      refused: sum((one) => one.refused),
      events: seen,
    }
    if (isLong) process.stdout.write(`clock faults on ${engine}, seed ${SEED}: ${JSON.stringify(figures)}\n`)
    expect(figures.acknowledged).toBeGreaterThan(steps / 3)
    await end()
  },
  isLong ? 4 * 3_600_000 : 300_000,
)
