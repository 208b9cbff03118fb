import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { Client } from './client.ts'
import { TeamWriter } from './crash-teams.ts'
import { OutageClient, PatientClient } from './outages.ts'
import { ADMIN_TOKEN, Purser, run, SECRET_KEY, temporaryFolder } from './purser.ts'
import { body, uniqueName } from './world.ts'

const PATIENCE_MS = 30_000

/** A server process on a PostgreSQL of a test, which may go away. */
export class ServedCluster {
  readonly client: Client
  readonly #address: string
  readonly #settings: Record<string, string>
  readonly #writers: TeamWriter[] = []
  readonly #loaded: OutageClient
  #work: Promise<unknown> | undefined

  private constructor(address: string, settings: Record<string, string>) {
    this.#address = address
    this.#settings = settings
    this.client = new Client(address, ADMIN_TOKEN)
    this.#loaded = new OutageClient(address, ADMIN_TOKEN)
  }

  static async start(databaseUrl: string): Promise<ServedCluster> {
    const settings = {
      PURSER_DATA: temporaryFolder(),
      PURSER_LISTEN: '127.0.0.1:0',
      PURSER_DATABASE_URL: databaseUrl,
      PURSER_SECRET_KEY: SECRET_KEY,
      PURSER_ADMIN_TOKEN: ADMIN_TOKEN,
      PURSER_LOG: 'error',
    }
    return new ServedCluster(await new Purser(['serve'], settings).address(), settings)
  }

  async createOrganization(): Promise<string> {
    const name = uniqueName('organization')
    const made = await this.#postOrganization(name)
    expect(made.status, made.text).toBe(201)
    return name
  }

  #postOrganization(name: string) {
    return this.client.post('/organizations', body('organizations', { name, email: 'o@example.com' }))
  }

  /** Begins to write teams of two organizations. */
  async beginToWrite(): Promise<void> {
    for (let count = 0; count < 2; count += 1) {
      this.#writers.push(new TeamWriter(await this.createOrganization()))
    }
    this.#work = Promise.all(this.#writers.map((writer) => writer.write(this.#loaded)))
  }

  /** Resolves when it is ready and writes. Until then it may answer 503 only. */
  async untilItServes(): Promise<void> {
    const start = performance.now()
    for (;;) {
      const ready = await this.client.get(`${this.#address}/readyz`)
      const made = await this.#postOrganization(uniqueName('after'))
      expect([201, 503]).toContain(made.status)
      if (ready.status === 200 && made.status === 201) return
      expect(performance.now() - start).toBeLessThan(PATIENCE_MS)
      await pause(50)
    }
  }

  /** Ends the writing. Nothing acknowledged may be lost, nothing half done, and no answer 500. */
  async endWriting(): Promise<void> {
    this.#loaded.end()
    await this.#work
    expect(new Set(this.#loaded.failures)).toBeOneOf([new Set(), new Set([503])])
    const patient = new PatientClient(this.#address, ADMIN_TOKEN)
    for (const writer of this.#writers) {
      await writer.check(patient)
      expect(writer.acknowledged).toBeGreaterThan(0)
    }
    expect(await run(['audit', 'verify'], this.#settings)).toMatchObject({ code: 0, stderr: '' })
  }
}
