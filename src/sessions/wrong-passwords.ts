import { hash } from 'node:crypto'
import type { Logger } from 'pino'
import type { ServerConfig } from '../config.ts'
import { SparseLog } from '../core/sparse-log.ts'
import type { Call } from '../http/call.ts'
import type { UserRow } from '../users/user-store.ts'
import { clientAddressOf } from './client-address.ts'

/** A line in the log for wrong passwords, at most one a minute for each account and network. */
export class WrongPasswords {
  readonly #config: ServerConfig
  readonly #log: Logger
  readonly #lines = new SparseLog()

  constructor(config: ServerConfig, log: Logger) {
    this.#config = config
    this.#log = log
  }

  /**
   * The name of an account that does not exist is not logged: people type their password in its place. docs/deploy.md has
   * an expression that finds these lines, so their form stays.
   *
   * @param account as somebody typed it, or the id of the user
   */
  note(call: Call, account: string, user: UserRow | undefined): void {
    const kind = hash('sha256', JSON.stringify([account, clientAddressOf(call, this.#config)]), 'base64')
    const fields = { account: user?.username ?? undefined, address: call.address }
    this.#lines.warn(this.#log, fields, 'a wrong password', kind)
  }
}
