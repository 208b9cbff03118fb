import { hasStep, ReadStatements, type ReadStatement, type Step } from './read-statement.ts'

/** A longer list makes the statement slower to plan than it saves. */
export const MAX_STEPS = 12
const MAX_PLANS = 10_000
/** No caller may use up the plans of others. */
const MAX_PLANS_OF_CALLER = 500
const MAX_NAME_LENGTH = 500

/** The statements of an earlier request, as one. */
export type ReadPlan = { readonly steps: readonly Step[]; readonly statement: ReadStatement }

/**
 * What a read needed the last time, and what it needed when the caches could answer less: after a change. Without `lean`
 * the last read needed more than both.
 */
type KeptPlans = { lean: ReadPlan | undefined; whole: ReadPlan }

/** The plans of recent reads, by caller and by the name of the read. */
export class ReadPlans {
  /** Least recently used first. */
  readonly #callers = new Map<string, Map<string, KeptPlans>>()
  readonly #statements = new ReadStatements()
  #count = 0

  find(caller: string, name: string): KeptPlans | undefined {
    const plans = this.#callers.get(caller)
    const plan = plans?.get(name)
    if (plans !== undefined && plan !== undefined) {
      this.#callers.delete(caller)
      this.#callers.set(caller, plans)
    }
    return plan
  }

  keep(caller: string, name: string, steps: readonly Step[]): void {
    const lean = name.length > MAX_NAME_LENGTH ? undefined : this.#planOf(steps)
    if (lean === undefined) return
    const plans = this.#callers.get(caller) ?? new Map<string, KeptPlans>()
    this.#callers.set(caller, plans)
    const known = plans.get(name)
    if (known === undefined) this.#count += 1
    plans.set(name, { lean, whole: this.#union(lean, known?.whole) })
    const [oldestName] = plans.keys()
    if (plans.size > MAX_PLANS_OF_CALLER && oldestName !== undefined) this.forget(caller, oldestName)
    for (const [oldest, { size }] of this.#callers) {
      if (this.#count <= MAX_PLANS) break
      this.#callers.delete(oldest)
      this.#count -= size
    }
  }

  /** Notes the steps that sufficed for a read. */
  use(caller: string, name: string, used: readonly Step[]): void {
    const known = this.#callers.get(caller)?.get(name)
    const lean = known?.lean?.steps === used ? undefined : this.#planOf(used)
    if (known !== undefined && lean !== undefined) known.lean = lean
  }

  /** Notes the steps that a read used before it needed another one. */
  miss(caller: string, name: string, used: readonly Step[]): void {
    const known = this.#callers.get(caller)?.get(name)
    const whole = this.#planOf(used)
    if (known === undefined || whole === undefined) return
    known.lean = undefined
    known.whole = whole
  }

  forget(caller: string, name: string): void {
    const plans = this.#callers.get(caller)
    if (plans?.delete(name) === true) this.#count -= 1
    if (plans?.size === 0) this.#callers.delete(caller)
  }

  /** To be called when a column of the tables is gone. */
  forgetAll(): void {
    this.#callers.clear()
    this.#count = 0
  }

  /** Reads beside each other fill the caches for each other, so each alone needs less than all of them. */
  #union(plan: ReadPlan, known: ReadPlan | undefined): ReadPlan {
    const isNew = ({ query, values }: Step) => !plan.steps.some((step) => hasStep(step, query, values))
    const others = known?.steps.filter(isNew) ?? []
    const steps = [...plan.steps, ...others]
    return (others.length > 0 && steps.length <= MAX_STEPS ? this.#planOf(steps) : undefined) ?? plan
  }

  #planOf(steps: readonly Step[]): ReadPlan | undefined {
    const statement = this.#statements.of(steps)
    return statement && { steps, statement }
  }
}
