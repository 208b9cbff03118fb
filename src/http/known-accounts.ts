import { accountOf, type Actor } from '../access/actor.ts'

const MAX_KNOWN = 10_000

/**
 * Whose the tokens and sessions are that came lately, so that a read can take its turn among those of its account before it
 * has found its token. Any number of tokens can be invented, so the unknown ones count for the address that they come from.
 */
export class KnownAccounts {
  /** By the hash of a token or of a session's secret, the oldest first. */
  readonly #accounts = new Map<string, string>()

  of(hash: string): string | undefined {
    return this.#accounts.get(hash)
  }

  add(hash: string, actor: Actor): void {
    if (this.#accounts.has(hash)) return
    this.#accounts.set(hash, accountOf(actor))
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size > MAX_KNOWN && oldest !== undefined) this.#accounts.delete(oldest)
  }

  /** Of a token that is accepted no longer: whoever has it takes no turns of the account. */
  forget(hash: string): void {
    this.#accounts.delete(hash)
  }
}
