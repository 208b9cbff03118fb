import { DatabaseError, type ClientConfig } from 'pg'
import { PostgresClient } from './postgres-client.ts'

/** A new connection takes part of the time that there is. */
const KEPT_CONNECTION_MS = 300
/** One look may be late for other reasons: the machine was busy. */
const LOOKS_WITHOUT_ANSWER = 3

/**
 * Nodes write the same row, so a transaction that hangs (a synchronous standby is away) is waited for, and not for long:
 * the next look must not leave another one hanging.
 */
const PROBE = `begin; set local lock_timeout = '400ms'; set local statement_timeout = '800ms';
insert into meta (key, value) values ('probe', clock_timestamp()::text)
on conflict (key) do update set value = excluded.value; commit`

/** Looks whether PostgreSQL reads and writes, over a connection of its own: requests may hold all the others. */
export class PostgresProbe {
  readonly #config: ClientConfig
  #kept: PostgresClient | undefined
  #withoutAnswer = 0

  constructor(config: ClientConfig) {
    this.#config = config
  }

  /** It takes no connections, or says nothing on them, for longer than a busy machine explains. */
  get isUnreachable(): boolean {
    return this.#withoutAnswer >= LOOKS_WITHOUT_ANSWER
  }

  async look(signal: AbortSignal): Promise<void> {
    const kept = this.#kept
    this.#kept = undefined
    if (kept !== undefined) {
      try {
        await this.#write(kept, AbortSignal.any([signal, AbortSignal.timeout(KEPT_CONNECTION_MS)]))
        return
      } catch {
        // It may have been broken for long, or its server is not the primary any more: a new one will tell.
        kept.cut(new Error('replaced'))
      }
    }
    const client = new PostgresClient(this.#config)
    this.#withoutAnswer += 1
    try {
      await cutAt(signal, client, client.connect())
      this.#withoutAnswer = 0
      await this.#write(client, signal)
    } catch (error) {
      // Refused by the server itself, which is there: it has too many connections, say.
      if (error instanceof DatabaseError) this.#withoutAnswer = 0
      client.cut(new Error('given up'))
      throw error
    }
  }

  close(): void {
    this.#kept?.cut(new Error('closed'))
  }

  async #write(client: PostgresClient, signal: AbortSignal): Promise<void> {
    await cutAt(signal, client, client.query(PROBE))
    this.#withoutAnswer = 0
    this.#kept = client
  }
}

/** Fails with the signal, and the connection with it. */
async function cutAt<T>(signal: AbortSignal, client: PostgresClient, work: Promise<T>): Promise<T> {
  const cut = () => client.cut(new Error('the database did not answer in time'))
  signal.addEventListener('abort', cut, { once: true })
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', cut)
  }
}
