import { isPermitted, type Target } from '../access/decide.ts'
import { ownTurn } from '../core/turns.ts'
import type { Reveal } from '../http/read-route.ts'
import type { Viewer } from '../http/route.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import type { LaterParts, Piece } from '../jsonapi/later-parts.ts'
import { outputFragment, type OutputShape } from './output-document.ts'
import { outputId } from './output-ids.ts'
import { outputPieces } from './output-pieces.ts'
import { masksLists, revealOf, revealOfMany } from './output-reveals.ts'
import { hasOutputs, readOutputs, refuseUnreadable } from './outputs.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

const IDENTIFIERS_A_PIECE = 2_000

/** The result of `include=outputs`: identifiers for the relationship, resources for `included`, and their number. */
export type IncludedOutputs = { identifiers: Identifier[]; included: Fragment[]; count: number }

/** Whether to make the outputs before sending. Those given with an encrypted state may be larger than the state. */
export function isMadeAtOnce(
  { outputs_count: count, size, state_format: format }: StateVersionRow,
  later: LaterParts,
): boolean {
  return count === 0 || (format !== null && later.hasRoomFor(count, size))
}

/**
 * Resources that are made while the answer is sent. With `reveal`, what they are made of is found before anything is sent, so
 * that `find` may still refuse the request.
 */
export function resourcesLater<Found>(
  { later, reveal }: IncludingViewer,
  find: () => Promise<Found>,
  make: (found: Found) => AsyncIterable<Piece>,
): Fragment {
  let found: Found | undefined
  reveal?.(async () => {
    found = await find()
    return undefined
  })
  return later.addResources(async function* () {
    yield* make((found ??= await find()))
  })
}

/** A viewer whose answer may add parts later. With `reveal` it may also show sensitive values. */
export type IncludingViewer = Viewer & {
  readonly later: LaterParts
  /** A function that it takes runs after the transaction, before anything is sent. It may still refuse the request. */
  readonly reveal?: (event: Reveal) => void
}

export const noOutputs: IncludedOutputs = { identifiers: [], included: [], count: 0 }

/**
 * The outputs of a state version, at once or later. Sensitive values are null unless the caller may read them. Throws 503
 * while the outputs are processed, and 409 if they cannot be read.
 */
export async function includedOutputs(
  { tx, deps, actor, standing, later, reveal }: IncludingViewer,
  target: Target,
  stateVersion: StateVersionRow,
  shape: Exclude<OutputShape, 'listed'>,
): Promise<IncludedOutputs> {
  // Many clients take the outputs without checking `resources-processed`, which a workspace does not even have.
  refuseUnreadable(stateVersion)
  if (!hasOutputs(stateVersion)) return noOutputs
  const mayRead = isPermitted('outputs:read', actor, standing, target)
  const isMasked = reveal === undefined || masksLists(deps.config) || !mayRead
  const hidden = mayRead ? 'values' : 'values and shapes'
  const masking = isMasked ? hidden : 'nothing'
  const { output_key: key, outputs_count: count } = stateVersion
  const type = shape === 'single' ? 'state-version-outputs' : shape
  const identifiersOf = (from: number, end: number): Identifier[] =>
    Array.from({ length: end - from }, (_, place) => ({ id: outputId(key, from + place), type }))

  const outputs = isMadeAtOnce(stateVersion, later) ? await readOutputs(tx, deps, stateVersion) : undefined
  if (outputs !== undefined) {
    const event = isMasked ? undefined : revealOf(stateVersion, outputs)
    if (event !== undefined) reveal?.(event)
    const included = outputs.map((output) => outputFragment(key, output, shape, masking))
    return { identifiers: identifiersOf(0, count), included, count }
  }

  if (!isMasked) reveal(() => revealOfMany(deps, stateVersion))
  const identifiers = later.add(async function* () {
    for (let from = 0; from < count; from += IDENTIFIERS_A_PIECE) {
      await ownTurn()
      const some = identifiersOf(from, Math.min(from + IDENTIFIERS_A_PIECE, count))
      yield `${from === 0 ? '' : ','}${JSON.stringify(some).slice(1, -1)}`
    }
  })
  const resources = later.addResources(() => outputPieces(deps, stateVersion, shape, masking))
  return { identifiers: [identifiers], included: [resources], count }
}
