import type { ReadPlan, Step } from './postgres-replay.ts'
import { ReadStatements } from './read-statement.ts'

const MAX_PLANS = 10_000
/** No caller may use up the plans of others. */
const MAX_PLANS_OF_CALLER = 500
const MAX_NAME_LENGTH = 500

/** The plans of recent reads, by caller and by the name of the read. */
export class ReadPlans {
  /** Least recently used first. */
  readonly #callers = new Map<string, Map<string, ReadPlan>>()
  readonly #statements = new ReadStatements()
  #count = 0

  find(caller: string, name: string): ReadPlan | undefined {
    const plans = this.#callers.get(caller)
    const plan = plans?.get(name)
    if (plans !== undefined && plan !== undefined) {
      this.#callers.delete(caller)
      this.#callers.set(caller, plans)
    }
    return plan
  }

  keep(caller: string, name: string, steps: readonly Step[] | undefined): void {
    const statement =
      steps === undefined || name.length > MAX_NAME_LENGTH ? undefined : this.#statements.of(steps)
    if (steps === undefined || statement === undefined) return
    const plans = this.#callers.get(caller) ?? new Map<string, ReadPlan>()
    this.#callers.set(caller, plans)
    if (!plans.has(name)) this.#count += 1
    plans.set(name, { steps, statement })
    const [oldestName] = plans.keys()
    if (plans.size > MAX_PLANS_OF_CALLER && oldestName !== undefined) this.forget(caller, oldestName)
    for (const [oldest, { size }] of this.#callers) {
      if (this.#count <= MAX_PLANS) break
      this.#callers.delete(oldest)
      this.#count -= size
    }
  }

  forget(caller: string, name: string): void {
    const plans = this.#callers.get(caller)
    if (plans?.delete(name) === true) this.#count -= 1
    if (plans?.size === 0) this.#callers.delete(caller)
  }
}
