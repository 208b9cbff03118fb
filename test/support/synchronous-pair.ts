import { setTimeout as pause } from 'node:timers/promises'
import { Forwarder } from './forwarder.ts'
import { PostgresCluster } from './postgres-cluster.ts'

export const pairFaults = ['primary stops', 'primary is killed', 'primary hangs', 'standby is away'] as const
export type PairFault = (typeof pairFaults)[number]

/** A primary with a synchronous standby. Purser reaches the primary by a name that can be moved to the standby. */
export class SynchronousPair {
  #primary: PostgresCluster
  standby: PostgresCluster
  readonly name: Forwarder

  private constructor(primary: PostgresCluster, standby: PostgresCluster, name: Forwarder) {
    this.#primary = primary
    this.standby = standby
    this.name = name
  }

  static async start(): Promise<SynchronousPair> {
    const primary = await PostgresCluster.start()
    const standby = await primary.addSynchronousStandby()
    return new SynchronousPair(primary, standby, await Forwarder.start(primary.port))
  }

  get url(): string {
    return this.#primary.url(this.name.port)
  }

  /** Runs SQL on the primary. */
  query(statement: string): Promise<Record<string, never>[]> {
    return this.#primary.query(statement)
  }

  /** Resolves when there is a primary to write to. */
  async inflict(kind: PairFault, ms: number): Promise<void> {
    if (kind === 'standby is away') {
      await this.standby.stop('fast')
      await pause(ms)
      await this.standby.start()
      return
    }
    if (kind === 'primary hangs') this.hangPrimary()
    else await this.#primary.stop(kind === 'primary stops' ? 'fast' : 'immediate')
    await this.standby.promote()
    this.moveName()
  }

  hangPrimary(): void {
    this.#primary.hang()
  }

  /** New connections lead to the standby. */
  moveName(): void {
    this.name.target = this.standby.port
  }

  /** As a name that some resolvers do not know yet. */
  moveNameBack(): void {
    this.name.target = this.#primary.port
  }

  /** After a fault of the primary: gives the standby that took over a standby of its own. */
  async repair(kind: PairFault): Promise<void> {
    if (kind === 'standby is away') return
    await this.#primary.remove()
    this.#primary = this.standby
    this.standby = await this.#primary.addSynchronousStandby()
  }

  async remove(): Promise<void> {
    await this.name.close()
    await this.#primary.remove()
    await this.standby.remove()
  }
}
