import { sessionSecretOf } from '../sessions/session-cookie.ts'
import type { Call } from './call.ts'
import { tokenOf } from './permit.ts'

/**
 * Who reads, and what, for the statements of earlier requests of this kind: see TransactionOptions. A class with getters,
 * because SQLite hardly ever needs these texts.
 */
export class Reader {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get caller(): string {
    return tokenOf(this.#call) ?? sessionSecretOf(this.#call) ?? ''
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
