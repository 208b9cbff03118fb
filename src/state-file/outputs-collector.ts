import { compareBytes } from '../core/compare-bytes.ts'
import type { Interest } from './json-visitor.ts'
import { resolveType, type ResolvedType } from './output-types.ts'
import { decodeString } from './raw-json.ts'
import { StateError } from './state-error.ts'

/** Limits for one state: the number of outputs, and the bytes of their names, values and types as raw JSON text. */
export const MAX_OUTPUTS = 100_000
export const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** An output. `name` and `value` are raw JSON text of the file without white space between tokens. */
export type StateOutput = ResolvedType & { name: string; value: string; sensitive: boolean }

/** All outputs of a state, sorted by the bytes of their names. The index in this list is the output's position. */
export type Outputs = { list: StateOutput[]; bytes: number }

const OPEN_BRACE = 0x7b

/**
 * Collects one object of outputs, `{ name: { value, type?, sensitive? } }`. An error is stored in `problem` and not
 * thrown, because only the end of the file shows whether it matters. The last of repeated names wins.
 */
export class OutputsCollector {
  readonly #readsTypes: boolean
  readonly #outputs = new Map<string, StateOutput>()
  #bytes = 0
  /** Bytes of the types, which may be longer than the values they were inferred from. */
  typeBytes = 0
  #name = ''
  #field = ''
  #fields = new Map<string, string>()
  problem: StateError | undefined

  /** @param readsTypes false for state format 3, whose `type` is not a Terraform type */
  constructor(readsTypes: boolean) {
    this.#readsTypes = readsTypes
  }

  beginOutput(name: string, first: number): Interest {
    if (this.problem !== undefined) return 'skip'
    this.#name = name
    this.#fields.clear()
    if (first === OPEN_BRACE) return 'open'
    this.#fail('is not an object')
    return 'skip'
  }

  beginField(name: string): Interest {
    this.#field = decodeString(name)
    return ['value', 'type', 'sensitive'].includes(this.#field) ? 'capture' : 'skip'
  }

  captured(text: string): void {
    this.#fields.set(this.#field, text)
  }

  endOutput(): void {
    const value = this.#fields.get('value')
    const sensitive = this.#fields.get('sensitive') ?? 'false'
    if (value === undefined) return this.#fail('has no value')
    if (sensitive !== 'true' && sensitive !== 'false')
      return this.#fail('is sensitive neither true nor false')
    try {
      const resolved = resolveType(this.#readsTypes ? this.#fields.get('type') : undefined, value)
      this.#add({ name: this.#name, value, sensitive: sensitive === 'true', ...resolved })
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      this.problem = error
    }
  }

  /** Adds the outputs of another object, as if they followed. */
  takeOver(other: OutputsCollector): void {
    this.problem ??= other.problem
    for (const output of other.#outputs.values()) this.#add(output)
  }

  /** Throws `problem` if there is one. */
  finish(): Outputs {
    if (this.problem !== undefined) throw this.problem
    const sorted = [...this.#outputs].sort(([a], [b]) => compareBytes(a, b))
    return { list: sorted.map(([, output]) => output), bytes: this.#bytes }
  }

  #add(output: StateOutput): void {
    const { name, value, detailedType } = output
    const typeBytes = Buffer.byteLength(detailedType)
    this.typeBytes += typeBytes
    this.#bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + typeBytes
    this.#outputs.set(decodeString(name), output)
    if (this.#outputs.size <= MAX_OUTPUTS && this.#bytes <= MAX_OUTPUT_BYTES) return
    this.problem = new StateError(
      'too-large',
      `There are more than ${MAX_OUTPUTS} outputs or ${MAX_OUTPUT_BYTES} bytes of them`,
    )
    this.#outputs.clear()
  }

  #fail(problem: string): void {
    const name = this.#name.length > 100 ? `${this.#name.slice(0, 100)}…` : this.#name
    this.problem = new StateError('not-a-state', `The output ${name} ${problem}`)
  }
}
