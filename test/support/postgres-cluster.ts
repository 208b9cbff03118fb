import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

/** The folder of initdb and pg_ctl: the newest version that Debian installed, or the search path. */
function binaries(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')))
  if (found === undefined) {
    throw new Error('PostgreSQL (initdb, pg_ctl) is not installed; on Debian: apt-get install postgresql')
  }
  return found
}

/** Runs as the user postgres if needed, because PostgreSQL refuses to run as root. */
async function asOwner(folder: string, file: string, args: readonly string[]): Promise<string> {
  const [program, all] = isRoot ? ['runuser', ['-u', 'postgres', '--', file, ...args]] : [file, [...args]]
  return (await run(program, all, { cwd: folder })).stdout
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A PostgreSQL server for one test, which can be stopped, killed and frozen. */
export class PostgresCluster {
  readonly folder: string
  readonly port: number
  readonly #binaries = binaries()

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  static async start(settings: Record<string, string> = {}): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'purser-cluster-'))
    if (isRoot) chownSync(folder, Number((await run('id', ['-u', 'postgres'])).stdout), -1)
    const cluster = new PostgresCluster(folder, await freePort())
    const initdb = join(cluster.#binaries, 'initdb')
    await asOwner(folder, initdb, [
      '-D',
      cluster.#data,
      '-U',
      'purser',
      '--auth=trust',
      '-E',
      'UTF8',
      '--no-sync',
    ])
    const lines = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: folder,
      port: cluster.port,
      max_connections: 200,
      fsync: 'off',
      full_page_writes: 'off',
      ...settings,
    }
    const text = Object.entries(lines).map(([name, value]) => `${name} = '${value}'\n`)
    writeFileSync(join(cluster.#data, 'postgresql.conf'), text.join(''), { flag: 'a' })
    await cluster.start()
    return cluster
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  /** @param port the port of a forwarder in front of it */
  url(port = this.port): string {
    return `postgres://purser@127.0.0.1:${port}/postgres`
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    await this.#control('start', '-w', '-s', '-l', join(this.folder, 'server.log'))
  }

  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.#control('stop', '-w', '-s', '-m', mode)
  }

  /** Freezes all its processes: connections stay open, but nothing is answered. */
  hang(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP')
  }

  goOn(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGCONT')
  }

  /** Runs statements as the administrator of the cluster. */
  async query(text: string): Promise<Record<string, never>[]> {
    const client = new Client({ connectionString: this.url() })
    await client.connect()
    try {
      return (await client.query(text)).rows
    } finally {
      await client.end()
    }
  }

  /** Ends every connection of Purser, or a random share of them. */
  async endBackends(share = 1): Promise<void> {
    await this.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'purser' and random() < ${share}`,
    )
  }

  /** Stops it and deletes its folder. */
  async remove(): Promise<void> {
    this.goOn()
    if (existsSync(join(this.#data, 'postmaster.pid'))) await this.stop('immediate').catch(() => {})
    rmSync(this.folder, { recursive: true, force: true })
  }

  #control(...args: string[]): Promise<string> {
    return asOwner(this.folder, join(this.#binaries, 'pg_ctl'), [...args, '-D', this.#data])
  }

  #processes(): number[] {
    const file = join(this.#data, 'postmaster.pid')
    if (!existsSync(file)) return []
    const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0])
    try {
      const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
      return [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
    } catch {
      return []
    }
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended in the meantime.
  }
}
