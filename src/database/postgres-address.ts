import type { ClientConfig } from 'pg'
import { urlForDriver } from '../core/database-url.ts'
import type { PostgresClient } from './postgres-client.ts'
import { DeadlineError, isAnswer, UnreachableError } from './postgres-errors.ts'

const CONNECT_TIMEOUT_MS = 3_000
const KEEP_ALIVE_MS = 10_000
/** After a connection has led to a server, an older one is refused for so long. Then an operator may have gone back to it. */
const OLDER_REFUSED_MS = 30_000

/** Servers have started at different microseconds. The settings are explained at `learn`. */
const LOOK = `select pg_is_in_recovery() as standby,
  (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as started,
  set_config('client_min_messages', 'warning', false),
  (select set_config(name, '0', false) from pg_settings where name = 'idle_session_timeout')`

/** A standby that is promoted begins a new timeline: eight digits, hexadecimal. */
const LINEAGE = `select system_identifier::text as system, left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline
  from pg_control_system() where not pg_is_in_recovery()`

type Lineage = { readonly system: string; readonly timeline: string }
type Server = { readonly started: number; readonly lineage: Lineage | undefined }

/**
 * The address of the primary, and the server that it leads to. After a failover that is another one for new connections.
 * Those to the server before may stay open: it hangs, or goes on with old data.
 */
export class PostgresAddress {
  readonly config: ClientConfig
  readonly #onMove: (openedAt: number) => void
  #server: Server | undefined
  /** The open connections to it. */
  readonly #clients = new Set<PostgresClient>()
  /** When the newest of them was opened. */
  #openedAt = -Infinity

  /** @param onMove is called when the address leads to another server, with the time when the connection was opened */
  constructor(url: string, onMove: (openedAt: number) => void = () => {}) {
    this.config = {
      connectionString: urlForDriver(url),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: 'purser',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    }
    this.#onMove = onMove
  }

  /**
   * To be called once for each connection. The same as `learn`, and throws if the server is a standby: what was revoked on the
   * primary may still be there, and nothing would end the connection.
   */
  async admit(client: PostgresClient): Promise<void> {
    if (!(await this.learn(client))) throw new UnreachableError('the server is a standby')
  }

  /**
   * Learns to which server a new connection leads. If it is another primary than before, all connections to the one before
   * are cut. Throws if it is an older primary. Returns false for a standby.
   *
   * Also makes sure that the server sends its warnings, and does not end a connection that is idle, whatever its settings say.
   */
  async learn(client: PostgresClient): Promise<boolean> {
    const [found] = (await client.query<{ standby: boolean; started: number }>(LOOK)).rows
    if (found === undefined || found.standby) return false
    const { started } = found
    if (started !== this.#server?.started) this.#move({ started, lineage: await lineageOf(client) }, client)
    this.#openedAt = Math.max(this.#openedAt, client.openedAt)
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
    client.isAdmitted = true
    return true
  }

  #move(server: Server, { openedAt }: PostgresClient): void {
    const before = this.#server
    // Another connection may have found it meanwhile.
    if (server.started === before?.started) return
    if (before !== undefined && this.#isOlder(server, before, openedAt)) {
      throw new UnreachableError('the address led to a newer server')
    }
    this.#server = server
    this.#openedAt = openedAt
    for (const other of this.#clients) other.cut(new DeadlineError('the address leads to another server now'))
    this.#clients.clear()
    if (before !== undefined) this.#onMove(openedAt)
  }

  /** By timeline and start, if both are of one cluster. Otherwise the connection that was opened last decides. */
  #isOlder(server: Server, before: Server, openedAt: number): boolean {
    const [one, other] = [server.lineage, before.lineage]
    if (one === undefined || one.system !== other?.system) return openedAt < this.#openedAt
    const isOlder =
      one.timeline === other.timeline ? server.started < before.started : one.timeline < other.timeline
    return isOlder && openedAt < this.#openedAt + OLDER_REFUSED_MS
  }
}

/** Undefined for a standby, or if this service of PostgreSQL does not tell. */
async function lineageOf(client: PostgresClient): Promise<Lineage | undefined> {
  try {
    return (await client.query<Lineage>(LINEAGE)).rows[0]
  } catch (error) {
    if (isAnswer(error)) return undefined
    throw error
  }
}
