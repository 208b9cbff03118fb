import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { Client, type Json } from './client.ts'
import { StateWriter } from './crash-states.ts'
import { TeamWriter } from './crash-teams.ts'
import { OUTAGE_SEED, OutageClient, PatientClient, type Fault } from './outages.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, temporaryFolder } from './purser.ts'
import { isLong } from './runs.ts'
import { body, uniqueName } from './world.ts'

/** Much longer than two nodes need, because the machine may be busy. `report` prints the time it took. */
const PATIENCE_MS = 30_000

/** Two nodes on a PostgreSQL server that may go away. Callers of both write teams and states. */
export class NodesUnderLoad {
  readonly clients: readonly Client[]
  readonly #patient: readonly Client[]
  readonly #nodes: readonly Purser[]
  readonly #settings: Record<string, string>
  readonly #writers: (TeamWriter | StateWriter)[] = []
  readonly #recoveries: { kind: string; ms: number }[] = []
  #probed = ''
  #loaded: readonly OutageClient[] = []
  #work: Promise<unknown> = Promise.resolve()

  private constructor(nodes: readonly Purser[], addresses: string[], settings: Record<string, string>) {
    this.#nodes = nodes
    this.#settings = settings
    this.clients = addresses.map((address) => new Client(address, ADMIN_TOKEN))
    this.#patient = addresses.map((address) => new PatientClient(address, ADMIN_TOKEN))
  }

  static async start(databaseUrl: string): Promise<NodesUnderLoad> {
    const settings = {
      PURSER_DATA: temporaryFolder(),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_DATABASE_URL: databaseUrl,
      PURSER_SECRET_KEY: SECRET_KEY,
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
      PURSER_INLINE_STATE_BYTES: '20000',
      PURSER_STATE_VERSIONS_KEPT: '1000000',
      PURSER_LOG: 'error',
    }
    const nodes = [new Purser(['serve'], settings), new Purser(['serve'], settings)]
    const addresses = await Promise.all(nodes.map((node) => node.address()))
    const under = new NodesUnderLoad(nodes, addresses, settings)
    await under.#createWriters()
    return under
  }

  /** Four writers of teams, and two of states: one state fits into its row, the other does not. */
  async #createWriters(): Promise<void> {
    const [client] = this.#patient as [Client]
    this.#probed = await this.createOrganization()
    for (let n = 0; n < 4; n++) this.#writers.push(new TeamWriter(await this.createOrganization()))
    const organization = await this.createOrganization()
    for (const outputs of [5, 60]) {
      const { data } = await this.#create('workspaces', `/organizations/${organization}/workspaces`)
      // 409: a lock whose answer was lost.
      const locked = await client.post(`/workspaces/${data.id}/actions/lock`)
      expect(locked.status, locked.text).toBeOneOf([200, 409])
      const place = { organization, workspace: data.attributes.name, workspaceId: data.id }
      this.#writers.push(new StateWriter(place, outputs))
    }
  }

  async createOrganization(): Promise<string> {
    return (await this.#create('organizations', '/organizations')).data.attributes.name
  }

  /** Tries again with another name, because the outcome of a 503 may be unknown. */
  async #create(type: string, path: string): Promise<Json> {
    for (;;) {
      const attributes = { name: uniqueName(type), email: 'o@example.com' }
      const made = await (this.clients[0] as Client).post(path, body(type, attributes))
      if (made.status === 201) return made.json
      expect(made.status, made.text).toBe(503)
      await pause(200)
    }
  }

  /**
   * Inflicts one fault after the other while the writers write. After each, both nodes must serve again, and nothing
   * acknowledged may be lost. Stops the nodes at the end.
   *
   * @param what names the faults in the report
   * @param inflict resolves when there is a database to write to
   * @param repair prepares the next fault, while nobody writes
   */
  async endure<Kind extends string>(
    what: string,
    faults: readonly Fault<Kind>[],
    inflict: (fault: Fault<Kind>) => Promise<void>,
    repair: (fault: Fault<Kind>) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    for (const [n, fault] of faults.entries()) {
      const context = `PURSER_OUTAGE_SEED=${OUTAGE_SEED}, fault ${n}: ${JSON.stringify(fault)}`
      await this.#beginToWrite()
      await pause(fault.afterMs)
      await inflict(fault)
      await this.#untilBothServe(fault.kind, context)
      await this.#endWriting(context)
      await repair(fault)
      if (isLong && n % 25 === 24) this.#report(`${n + 1} ${what}`)
    }
    this.#report(`${faults.length} ${what}`)
    for (const { acknowledged } of this.#writers) expect(acknowledged).toBeGreaterThan(faults.length)
    await this.#stop()
  }

  /** Resolves when each writer was acknowledged once. It goes on until a request of its own fails. */
  async #beginToWrite(): Promise<void> {
    this.#loaded = this.clients.map(({ address }) => new OutageClient(address, ADMIN_TOKEN))
    const begun: Promise<void>[] = []
    const writing = this.#writers.map((writer, n) => {
      const before = writer.acknowledged
      const end = new AbortController()
      const untilAcknowledged = async () => {
        while (!end.signal.aborted && writer.acknowledged === before) await pause(10)
      }
      begun.push(untilAcknowledged())
      return writer.write(this.#loaded[n % 2] as OutageClient).finally(() => end.abort())
    })
    this.#work = Promise.all(writing)
    await Promise.all(begun)
  }

  /** Resolves when both nodes are ready and write. Until then they may answer 503 only. */
  async #untilBothServe(kind: string, context: string): Promise<void> {
    const start = performance.now()
    await Promise.all(
      this.clients.map(async (client) => {
        while (!(await this.#serves(client))) {
          if (performance.now() - start > PATIENCE_MS) throw new Error(`does not serve again: ${context}`)
          await pause(50)
        }
        this.#recoveries.push({ kind, ms: performance.now() - start })
      }),
    )
  }

  async #serves(client: Client): Promise<boolean> {
    const ready = await client.get(`${client.address}/readyz`)
    if (ready.status !== 200) return false
    const path = `/organizations/${this.#probed}/teams`
    const made = await client.post(path, body('teams', { name: uniqueName('probe') }))
    expect([200, 503]).toContain(made.status)
    return made.status === 200
  }

  /** Ends the writing. Nothing acknowledged may be lost, nothing half done, and no answer 500. */
  async #endWriting(context: string): Promise<void> {
    for (const client of this.#loaded) client.end()
    await this.#work
    const failures = new Set(this.#loaded.flatMap((client) => client.failures))
    expect(failures, context).toBeOneOf([new Set(), new Set([503])])
    try {
      await Promise.all(this.#writers.map((writer, n) => writer.check(this.#patient[n % 2] as Client)))
    } finally {
      // The log of an unexpected answer says why.
      for (const { stderr } of this.#nodes) expect(stderr, context).toBe('')
    }
  }

  /** Stops both nodes. Neither may have logged an error, and the audit trail must be complete. */
  async #stop(): Promise<void> {
    for (const node of this.#nodes) {
      expect(await node.stop()).toBe(0)
      expect(node.stderr).toBe('')
    }
    expect(await run(['audit', 'verify'], this.#settings)).toMatchObject({ code: 0, stderr: '' })
  }

  /** Prints how many writes were acknowledged, and after which time a node served again. */
  #report(what: string): void {
    const sorted = this.#recoveries.toSorted((a, b) => a.ms - b.ms)
    const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1]?.ms ?? 0)
    const acknowledged = this.#writers.reduce((sum, writer) => sum + writer.acknowledged, 0)
    const late = sorted.filter(({ ms }) => ms > 2_000)
    const kinds = Map.groupBy(late, ({ kind }) => kind)
    console.log(
      `${what}, seed ${OUTAGE_SEED}: ${acknowledged} writes acknowledged; a node served again after ${at(0.5)} ms (median), ${at(0.95)} ms (p95), ${at(1)} ms (longest); later than 2 s: ${late.length} of ${sorted.length}`,
      Object.fromEntries(Array.from(kinds, ([kind, all]) => [kind, all.length])),
    )
  }
}
