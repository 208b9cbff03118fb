import { strangerOf } from '../sessions/client-address.ts'
import type { Call } from './call.ts'
import type { RunnerDeps } from './deps.ts'
import { callerHashOf } from './permit.ts'

/**
 * Who reads, and what, for the statements of earlier requests of this kind: see TransactionOptions. A class with getters,
 * because SQLite hardly ever needs these texts.
 */
export class Reader {
  readonly #call: Call
  readonly #deps: Pick<RunnerDeps, 'accounts' | 'config'>

  constructor(call: Call, deps: Pick<RunnerDeps, 'accounts' | 'config'>) {
    this.#call = call
    this.#deps = deps
  }

  get account(): string {
    const { accounts, config } = this.#deps
    return accounts.of(this.caller) ?? strangerOf(this.#call, config).account
  }

  get caller(): string {
    return callerHashOf(this.#call)
  }

  get name(): string {
    return `${this.#call.method} ${this.#call.stream.url}`
  }

  /** Requests with another query, or for another object, begin alike. */
  get like(): string {
    const { name } = this
    const mark = name.indexOf('?')
    return mark === -1 ? `${this.#call.method} ${this.#call.route}` : name.slice(0, mark + 1)
  }
}
