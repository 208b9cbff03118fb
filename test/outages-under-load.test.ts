import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Client } from './support/client.ts'
import { StateWriter } from './support/crash-states.ts'
import { TeamWriter } from './support/crash-teams.ts'
import { engines } from './support/engines.ts'
import { Forwarder } from './support/forwarder.ts'
import { inflict, OutageClient, PatientClient, randomOutages } from './support/outages.ts'
import { PostgresCluster } from './support/postgres-cluster.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, temporaryFolder } from './support/purser.ts'
import { isLong } from './support/runs.ts'
import { body, uniqueName } from './support/world.ts'

/** PURSER_OUTAGE_SEED=…: repeats the outages of a failed run. */
const SEED = Number(process.env.PURSER_OUTAGE_SEED ?? (isLong ? Date.now() % 1_000_000 : 20_261_122))
const OUTAGES = Number(process.env.PURSER_OUTAGES ?? (isLong ? 500 : 12))
/** Much longer than two nodes need, because the machine may be busy. The long mode prints the time it took. */
const PATIENCE_MS = 30_000

async function serves(client: Client, organization: string): Promise<boolean> {
  const ready = await client.get(`${client.address}/readyz`)
  if (ready.status !== 200) return false
  const name = uniqueName('probe')
  const made = await client.post(`/organizations/${organization}/teams`, body('teams', { name }))
  expect([200, 503]).toContain(made.status)
  return made.status === 200
}

describe.each(engines.filter((engine) => engine === 'postgres'))('two nodes on one %s', () => {
  test(
    `${OUTAGES} outages under load: nothing acknowledged is lost, nothing is 500, every node serves again`,
    async () => {
      const cluster = await PostgresCluster.start()
      onTestFinished(() => cluster.remove())
      const forwarder = await Forwarder.start(cluster.port)
      onTestFinished(() => forwarder.close())
      const settings = {
        PURSER_DATA: temporaryFolder(),
        PURSER_LISTEN: '127.0.0.1:0',
        PURSER_DATABASE_URL: cluster.url(forwarder.port),
        PURSER_SECRET_KEY: SECRET_KEY,
        PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
        PURSER_INLINE_STATE_BYTES: '20000',
        PURSER_STATE_VERSIONS_KEPT: '1000000',
        PURSER_LOG: 'error',
      }
      const nodes = [new Purser(['serve'], settings), new Purser(['serve'], settings)]
      const addresses = await Promise.all(nodes.map((node) => node.address()))
      const clients = addresses.map((address) => new Client(address, ADMIN_TOKEN))
      const patient = addresses.map((address) => new PatientClient(address, ADMIN_TOKEN))
      const [first] = clients as [Client, Client]
      const createOrganization = async () => {
        const name = uniqueName('organization')
        const made = await first.post(
          '/organizations',
          body('organizations', { name, email: 'o@example.com' }),
        )
        expect(made.status, made.text).toBe(201)
        return name
      }
      const probed = await createOrganization()
      const writers: (TeamWriter | StateWriter)[] = []
      for (let n = 0; n < 4; n++) writers.push(new TeamWriter(await createOrganization()))
      const organization = await createOrganization()
      for (const outputs of [5, 60]) {
        const workspace = uniqueName('workspace')
        const made = await first.post(
          `/organizations/${organization}/workspaces`,
          body('workspaces', { name: workspace }),
        )
        const workspaceId = made.json.data.id as string
        expect((await first.post(`/workspaces/${workspaceId}/actions/lock`)).status).toBe(200)
        writers.push(new StateWriter({ organization, workspace, workspaceId }, outputs))
      }

      const took: Took[] = []
      for (const [n, outage] of randomOutages(OUTAGES, SEED).entries()) {
        const context = `PURSER_OUTAGE_SEED=${SEED}, outage ${n}: ${JSON.stringify(outage)}`
        const loaded = addresses.map((address) => new OutageClient(address, ADMIN_TOKEN))
        const work = Promise.all(
          writers.map((writer, place) => writer.write(loaded[place % 2] as OutageClient)),
        )
        await pause(outage.afterMs)
        await inflict(outage, cluster, forwarder)
        const repaired = performance.now()
        await Promise.all(
          clients.map(async (client) => {
            while (!(await serves(client, probed))) {
              if (performance.now() - repaired > PATIENCE_MS)
                throw new Error(`does not serve again: ${context}`)
              await pause(50)
            }
            took.push({ kind: outage.kind, ms: performance.now() - repaired })
          }),
        )
        for (const client of loaded) client.end()
        await work
        expect(new Set(loaded.flatMap(({ failures }) => failures)), context).toBeOneOf([
          new Set(),
          new Set([503]),
        ])
        await Promise.all(writers.map((writer, place) => writer.check(patient[place % 2] as Client)))
        if (isLong && n % 25 === 24) report(n + 1, took, writers)
      }
      report(OUTAGES, took, writers)
      expect(writers.every(({ acknowledged }) => acknowledged > OUTAGES)).toBe(true)
      for (const node of nodes) {
        expect(await node.stop()).toBe(0)
        expect(node.stderr).toBe('')
      }
      expect(await run(['audit', 'verify'], settings)).toMatchObject({ code: 0, stderr: '' })
    },
    isLong ? 4 * 3_600_000 : 180_000,
  )
})

type Took = { kind: string; ms: number }

function report(outages: number, took: readonly Took[], writers: readonly { acknowledged: number }[]): void {
  const sorted = took.toSorted((a, b) => a.ms - b.ms)
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1]?.ms ?? 0)
  const acknowledged = writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
  const late = sorted.filter(({ ms }) => ms > 2_000)
  console.log(
    `${outages} outages, seed ${SEED}: ${acknowledged} writes acknowledged; a node served again after ${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (longest); later than 2 s: ${late.length} of ${took.length}`,
    Object.fromEntries(
      Array.from(
        Map.groupBy(late, ({ kind }) => kind),
        ([kind, all]) => [kind, all.length],
      ),
    ),
  )
}
