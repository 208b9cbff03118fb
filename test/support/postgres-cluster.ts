import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
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

/** The user id of the servers. Undefined: they run as the user of the tests. */
export async function ownerId(): Promise<number | undefined> {
  return isRoot ? Number((await run('id', ['-u', 'postgres'])).stdout) : undefined
}

/** Resolves when something listens on a port of this machine. */
export async function reaches(port: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (tries === 100) throw error
      await pause(50)
    } finally {
      socket.destroy()
    }
  }
}

export async function freePort(): Promise<number> {
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
    const cluster = await PostgresCluster.#make()
    const { folder } = cluster
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

  static async #make(): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'purser-cluster-'))
    const owner = await ownerId()
    if (owner !== undefined) chownSync(folder, owner, -1)
    return new PostgresCluster(folder, await freePort())
  }

  /** A copy that follows this cluster. From now on each commit waits until the copy has it. */
  async addSynchronousStandby(): Promise<PostgresCluster> {
    const standby = await PostgresCluster.#make()
    const { folder, port } = standby
    const from = `host=127.0.0.1 port=${this.port} user=purser application_name=standby`
    const following = ['-R', '-X', 'stream', '-C', '-S', 'standby', '-c', 'fast']
    const copying = ['-D', standby.#data, '-d', from, ...following]
    await asOwner(folder, join(this.#binaries, 'pg_basebackup'), copying)
    const lines = `port = ${port}\nunix_socket_directories = '${folder}'\n`
    writeFileSync(join(standby.#data, 'postgresql.conf'), lines, { flag: 'a' })
    await standby.start()
    await this.query("alter system set synchronous_standby_names = 'ANY 1 (standby)'")
    await this.query('select pg_reload_conf()')
    const followers = () => this.query("select from pg_stat_replication where sync_state = 'quorum'")
    while ((await followers()).length === 0) await pause(50)
    return standby
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.#control('promote', '-w', '-s')
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
  async query(text: string, database = 'postgres'): Promise<Record<string, never>[]> {
    const client = new Client({ host: '127.0.0.1', port: this.port, user: 'purser', database })
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

  /** Takes all connections that are free, ends those of Purser, and takes theirs too, for some time. */
  async useUpConnections(ms: number): Promise<void> {
    const taken: Client[] = []
    const end = performance.now() + ms
    const takeAll = async () => {
      for (;;) {
        const client = new Client({ connectionString: this.url() })
        client.on('error', () => {})
        try {
          await client.connect()
        } catch {
          return
        }
        taken.push(client)
      }
    }
    try {
      await takeAll()
      await taken[0]?.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'purser'",
      )
      while (performance.now() < end) {
        await takeAll()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    } finally {
      await Promise.all(taken.map((client) => client.end()))
    }
  }

  /** For some time, lets half of the commits that write audit events fail with 40001 or 40P01. */
  async failCommits(ms: number): Promise<void> {
    await this.query(`
      create or replace function fail_commit() returns trigger language plpgsql as $$ begin
        if random() < 0.25 then raise exception 'on purpose' using errcode = '40001'; end if;
        if random() < 0.25 then raise exception 'on purpose' using errcode = '40P01'; end if;
        return null;
      end $$;
      create constraint trigger fail_commit after insert on audit_events deferrable initially deferred
        for each row execute function fail_commit()`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    await this.query('drop trigger fail_commit on audit_events')
  }

  /**
   * Stops it and deletes its folder. One that hangs ends with the first thing that it does: an old primary that goes on would
   * answer reads once more, although another one has taken over.
   */
  async remove(): Promise<void> {
    for (const pid of this.#processes()) signal(pid, 'SIGQUIT')
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
