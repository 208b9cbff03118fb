import { setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import type { Database } from '../../src/database/database.ts'
import { Client } from './client.ts'
import type { Engine } from './engines.ts'
import { forgetPeak, peakMemory, probeBeside } from './probe.ts'
import { ADMIN_TOKEN, Purser, settingsFor, type Settings } from './purser.ts'
import { isLong } from './runs.ts'
import { createTestOrganization, type TestOrganization } from './world.ts'

const MAX_PEAK_MIB = 512
const MAX_P999_MS = 50
const CONTROL_MS = isLong ? 20_000 : 500

/** A separate server, and an attacker with an organization. */
export type Attacked = {
  engine: Engine
  address: string
  attacker: TestOrganization
  token: string
  pid: number
  /** The server's own database, to insert rows that would take hours through requests. */
  openDatabase: () => Promise<Database>
}

export type Attacks<World extends Attacked> = Record<string, (world: World) => Promise<void>>

export async function startAttacked(engine: Engine, settings: Settings = {}): Promise<Attacked> {
  const all: Settings = { ...(await settingsFor(engine)), ...settings, PURSER_ADMIN_TOKEN: ADMIN_TOKEN }
  const purser = new Purser(['serve'], all)
  const address = await purser.address()
  const client = (token?: string) => new Client(address, token)
  const attacker = await createTestOrganization({ client, admin: client(ADMIN_TOKEN) })
  const open = async () => {
    const place = { data: all.PURSER_DATA as string, databaseUrl: all.PURSER_DATABASE_URL }
    return (await openDatabase(place)).database
  }
  const token = attacker.owner.client.token as string
  return { engine, address, attacker, token, pid: purser.child.pid as number, openDatabase: open }
}

/**
 * Sends a read of another user every 20 ms during each attack. Every read must succeed, and memory must stay below 512
 * MiB. If `isTimed` is true, 99.9 % of the reads must take at most 50 ms, or at most twice as long as the longest read
 * on this machine without an attack.
 */
export async function probeAttacks<World extends Attacked>(
  world: World,
  attacks: Attacks<World>,
  isTimed: (name: string) => boolean,
  afterEach = () => {},
): Promise<void> {
  const figures: string[] = []
  onTestFinished(() => console.log(`${world.engine}\n${figures.join('\n')}`))
  const wrong: string[] = []
  let mostMs = MAX_P999_MS
  const control: Attacks<World> = { nothing: () => setTimeout(CONTROL_MS) }
  for (const [name, attack] of Object.entries({ ...control, ...attacks })) {
    forgetPeak(world.pid)
    const url = `${world.address}/api/v2/account/details`
    const probed = await probeBeside(url, ADMIN_TOKEN, () => withLowPriority(() => attack(world)))
    afterEach()
    const peak = peakMemory(world.pid)
    const { p50, p999, longest, count, failures } = probed
    figures.push(
      `${name}: p50 ${p50.toFixed(1)} ms, p99.9 ${p999.toFixed(1)} ms, longest ${longest.toFixed(1)} ms of ${count}, peak ${peak.toFixed(0)} MiB`,
    )
    if (failures > 0) wrong.push(`${name}: ${failures} of ${count} were not answered with 200`)
    if (peak > MAX_PEAK_MIB) wrong.push(`${name}: ${peak} MiB`)
    // A busy machine cannot be faster than it is without an attack.
    if (name === 'nothing') mostMs = Math.max(MAX_P999_MS, 2 * longest)
    if (isTimed(name) && p999 > mostMs) wrong.push(`${name}: p99.9 ${p999} ms`)
  }
  expect(wrong).toEqual([])
}

/** Attackers have processors of their own. When time counts, this process must not take those of the server. */
async function withLowPriority(attack: () => Promise<void>): Promise<void> {
  if (!isLong) return attack()
  setPriority(19)
  try {
    await attack()
  } finally {
    try {
      setPriority(0)
    } catch {
      // Only a privileged process may raise its priority again. The other attacks keep the low one.
    }
  }
}
