import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort, ownerId, reaches, type PostgresCluster } from './postgres-cluster.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

export const bouncerFaults = ['PgBouncer stops', 'stop fast', 'stop immediate', 'connections ended'] as const
type BouncerFault = (typeof bouncerFaults)[number]

type PoolMode = 'session' | 'transaction'

/** PgBouncer in front of a PostgreSQL server. */
export class PgBouncer {
  readonly port: number
  readonly #folder: string
  readonly #serverPort: number
  #process: ChildProcess | undefined

  private constructor(folder: string, port: number, serverPort: number) {
    this.#folder = folder
    this.#serverPort = serverPort
    this.port = port
  }

  static async start(serverPort: number, mode: PoolMode = 'session'): Promise<PgBouncer> {
    if (!existsSync(PROGRAM)) {
      throw new Error('PgBouncer is not installed; on Debian: apt-get install pgbouncer')
    }
    const folder = mkdtempSync(join(tmpdir(), 'purser-pgbouncer-'))
    const bouncer = new PgBouncer(folder, await freePort(), serverPort)
    writeFileSync(join(folder, 'users.txt'), '"purser" ""\n"node" ""\n')
    bouncer.#configure(mode)
    const owner = await ownerId()
    // It refuses to run as root.
    if (owner !== undefined)
      for (const name of ['', 'users.txt', 'pgbouncer.ini']) chownSync(join(folder, name), owner, -1)
    chmodSync(folder, 0o700)
    await bouncer.start()
    return bouncer
  }

  /** Starts it again in another mode. */
  async changeMode(mode: PoolMode): Promise<void> {
    await this.stop()
    this.#configure(mode)
    await this.start()
  }

  #configure(mode: PoolMode): void {
    writeFileSync(
      join(this.#folder, 'pgbouncer.ini'),
      `[databases]
* = host=127.0.0.1 port=${this.#serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${this.port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(this.#folder, 'users.txt')}
pool_mode = ${mode}
default_pool_size = 50
server_login_retry = 1
`,
    )
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const uid = await ownerId()
    this.#process = spawn(PROGRAM, ['-q', join(this.#folder, 'pgbouncer.ini')], {
      stdio: 'ignore',
      ...(uid === undefined ? {} : { uid }),
    })
    await reaches(this.port)
  }

  /** Cuts all connections. */
  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#process?.once('exit', () => resolve())
    if (this.#process?.kill('SIGTERM') === true) await promise
    this.#process = undefined
  }

  /** A fault of it, or of the database behind it. Resolves when all is repaired. */
  async inflict(kind: BouncerFault, ms: number, cluster: PostgresCluster): Promise<void> {
    if (kind === 'connections ended') return cluster.endBackends()
    if (kind === 'PgBouncer stops') await this.stop()
    else await cluster.stop(kind === 'stop fast' ? 'fast' : 'immediate')
    await pause(ms)
    await (kind === 'PgBouncer stops' ? this.start() : cluster.start())
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
