import { hasStep, ReadStatements, type ReadStatement, type Step } from './read-statement.ts'

/** A longer list makes the statement slower to plan than it saves. */
export const MAX_STEPS = 12
const MAX_PLANS = 10_000
/** No caller may use up the plans of others. */
const MAX_PLANS_OF_CALLER = 500
const MAX_NAME_LENGTH = 500

/** The statements of an earlier request, as one. */
export type ReadPlan = { readonly steps: readonly Step[]; readonly statement: ReadStatement }

/** The statement is made when the read comes again. Most searches do not. */
type KeptPlan = { readonly steps: readonly Step[]; plan?: ReadPlan }

/**
 * What a read needed the last time, and what it needed when the caches could answer less: after a change. Without `lean`
 * the last read needed more than both.
 */
type Both<Plan> = { lean: Plan | undefined; whole: Plan }

/** The plans of recent reads, by caller and by the name of the read. */
export class ReadPlans {
  /** Least recently used first. */
  readonly #callers = new Map<string, Map<string, Both<KeptPlan>>>()
  readonly #statements = new ReadStatements()
  #count = 0

  find(caller: string, name: string): Both<ReadPlan> | undefined {
    const plans = this.#callers.get(caller)
    const known = plans?.get(name)
    if (plans === undefined || known === undefined) return undefined
    this.#callers.delete(caller)
    this.#callers.set(caller, plans)
    const whole = this.#planOf(known.whole)
    return whole && { lean: known.lean && this.#planOf(known.lean), whole }
  }

  keep(caller: string, name: string, steps: readonly Step[]): void {
    if (name.length > MAX_NAME_LENGTH) return
    const plans = this.#callers.get(caller) ?? new Map<string, Both<KeptPlan>>()
    this.#callers.set(caller, plans)
    const known = plans.get(name)
    if (known?.lean?.steps === steps) return
    if (known === undefined) this.#count += 1
    const lean = { steps }
    const whole = union(steps, known?.whole.steps)
    plans.set(name, { lean, whole: whole === steps ? lean : { steps: whole } })
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
    if (known === undefined || known.lean?.steps === used) return
    known.lean = known.whole.steps === used ? known.whole : { steps: used }
  }

  /** Notes the steps that a read used before it needed another one. */
  miss(caller: string, name: string, used: readonly Step[]): void {
    const known = this.#callers.get(caller)?.get(name)
    if (known === undefined) return
    known.lean = undefined
    known.whole = { steps: used }
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

  /** Undefined if the steps cannot be one statement. */
  #planOf(kept: KeptPlan): ReadPlan | undefined {
    if (kept.plan === undefined) {
      const { steps } = kept
      const statement = this.#statements.of(steps)
      if (statement !== undefined) kept.plan = { steps, statement }
    }
    return kept.plan
  }
}

/** Reads beside each other fill the caches for each other, so each alone needs less than all of them. */
function union(steps: readonly Step[], known: readonly Step[] = []): readonly Step[] {
  const isNew = ({ query, values }: Step) => !steps.some((step) => hasStep(step, query, values))
  const others = known.filter(isNew)
  return others.length > 0 && steps.length + others.length <= MAX_STEPS ? [...steps, ...others] : steps
}
