import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { AppError, conflict } from '../core/errors.ts'
import { parseStored } from '../core/stored-json.ts'
import { ownTurn } from '../core/turns.ts'
import { shortName } from '../state-file/output-names.ts'
import { decodeString } from '../state-file/raw-json.ts'
import { DamagedContentError, readingError } from '../state-versions/damaged-content.ts'
import { findOutputBlocks, findOutputPart, type StoredBlock } from './output-block-store.ts'
import { openOutputs } from './output-blocks.ts'
import type { PlacedOutput } from './output-document.ts'
import { openPart, runsOf, type LargeOutput, type OutputText } from './output-parts.ts'
import { SealError, unwrapDataKey } from '../state-versions/state-crypto.ts'
import {
  isContentDeleted,
  unreadableOutputs,
  type StateVersionRow,
} from '../state-versions/state-version-store.ts'
import type { ContentSource } from '../state-content/stored-content.ts'

const WHAT = 'outputs'
/** Maximum of blocks that one answer opens within the deciding transaction, about 1 MiB. */
const MAX_BLOCKS_AT_ONCE = 4

type Place = { position: number }
/** The texts of a large output are still in its parts. `bytes` reads one of them, one part at a time. */
export type PlacedLargeOutput = LargeOutput &
  Place & { readonly bytes: (text: OutputText) => AsyncIterable<Uint8Array> }
export type PlacedStoredOutput = PlacedOutput | PlacedLargeOutput

/**
 * Throws 503 while a job makes the outputs, and 409 if they cannot be read at all: an empty list would look like a state
 * without outputs. A pending or discarded version has none.
 */
export function refuseUnreadable(stateVersion: StateVersionRow): void {
  if (stateVersion.status !== 'finalized') return
  if (stateVersion.resources_processed === 0) {
    throw new AppError('unavailable', 'the outputs are still being processed; try again')
  }
  if (unreadableOutputs(stateVersion) === 'encrypted') throw conflict(encryptedText(stateVersion.id))
}

export function encryptedText(id: string): string {
  return `the outputs of the state version ${id} cannot be read: OpenTofu has encrypted its state, and the upload had no json-state-outputs`
}

/** Whether the outputs can be read: they are processed, and the content is not deleted. */
export function hasOutputs(stateVersion: StateVersionRow): boolean {
  return stateVersion.resources_processed === 1 && !isContentDeleted(stateVersion)
}

/**
 * The outputs from position `from` to `end` (exclusive), sorted by the bytes of their names. Undefined if there are too
 * many to open at once: use `outputsInTurn` then. Throws DamagedContentError if some are missing or processing failed.
 */
export async function readOutputs(
  tx: Transaction,
  deps: Deps,
  stateVersion: StateVersionRow,
  from = 0,
  end = stateVersion.outputs_count,
): Promise<PlacedOutput[] | undefined> {
  const { id, last_failure: failure } = stateVersion
  const last = Math.min(end, stateVersion.outputs_count)
  if (!hasOutputs(stateVersion)) return []
  // An empty list would be dangerous: the caller might take it as "no outputs" and delete what depends on them.
  if (failure !== null) throw new DamagedContentError(WHAT, id, `they could not be processed: ${failure}`)
  if (from >= last) return []
  const blocks = await findOutputBlocks(tx, id, from, last, MAX_BLOCKS_AT_ONCE + 1)
  if (blocks.length > MAX_BLOCKS_AT_ONCE) return undefined
  try {
    const dataKey = unwrapDataKey(deps.config.secretKey, id, stateVersion.wrapped_key)
    const outputs = blocks
      .flatMap((block) => placedOutputs(deps, stateVersion, dataKey, block))
      .filter(({ position }) => position >= from && position < last)
    requireAll(outputs, from, last)
    return outputs.every(isWhole) ? outputs : undefined
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new DamagedContentError(WHAT, id, error.message, { cause: error })
  }
}

/**
 * The outputs from position `start` to `end` (exclusive), one stored block at a time, each in its own turn and
 * transaction. So other requests do not wait, and only one block is in memory. Throws DamagedContentError if some are
 * missing, and ContentDeletedError if they are deleted during the read.
 */
export async function* outputsInTurn(
  source: ContentSource,
  stateVersion: StateVersionRow,
  start = 0,
  end = stateVersion.outputs_count,
): AsyncGenerator<PlacedStoredOutput[]> {
  const { database, config } = source
  const { id, outputs_count: count } = stateVersion
  const last = Math.min(end, count)
  for (let from = start; from < last;) {
    await ownTurn()
    const [block] = await database.read((tx) => findOutputBlocks(tx, id, from, from + 1, 1))
    let outputs: PlacedStoredOutput[]
    try {
      const dataKey = unwrapDataKey(config.secretKey, id, stateVersion.wrapped_key)
      const all = block === undefined ? [] : placedOutputs(source, stateVersion, dataKey, block)
      outputs = all.filter(({ position }) => position >= from && (position < last || position >= count))
      requireAll(outputs, from, Math.min(last, from + Math.max(1, outputs.length)))
    } catch (error) {
      throw await readingError(database, stateVersion, WHAT, error)
    }
    yield outputs
    from += outputs.length
  }
}

/** One text of a large output, one stored part at a time. Throws the same errors as `outputsInTurn`. */
async function* bytesInTurn(
  { database, config }: ContentSource,
  stateVersion: StateVersionRow,
  position: number,
  output: LargeOutput,
  text: OutputText,
): AsyncGenerator<Uint8Array> {
  const { id } = stateVersion
  for (const { part, start, end } of runsOf(output, text)) {
    await ownTurn()
    const sealed = await database.read((tx) => findOutputPart(tx, id, position, part))
    let bytes: Uint8Array
    try {
      if (sealed === undefined) throw new SealError(`Part ${part} of output ${position} is missing`)
      const dataKey = unwrapDataKey(config.secretKey, id, stateVersion.wrapped_key)
      bytes = openPart(dataKey, id, position, part, output, sealed)
    } catch (error) {
      throw await readingError(database, stateVersion, WHAT, error)
    }
    yield bytes.subarray(start, end)
  }
}

export function isWhole(output: PlacedStoredOutput): output is PlacedOutput {
  return !('lengths' in output)
}

/** The name for the audit trail and for previews: a long one is cut. */
export function shownName(output: PlacedStoredOutput): string {
  return isWhole(output) ? shortName(decodeString(output.name)) : parseStored<string>(output.shortName)
}

/** A missing output must be an error, not a shorter list. */
function requireAll(outputs: readonly Place[], from: number, end: number): void {
  for (let position = from; position < end; position++) {
    if (outputs[position - from]?.position !== position) throw new SealError(`Output ${position} is missing`)
  }
  if (outputs.length > end - from) throw new SealError(`There are more than ${end}`)
}

function placedOutputs(
  source: ContentSource,
  stateVersion: StateVersionRow,
  dataKey: Uint8Array,
  block: StoredBlock,
): PlacedStoredOutput[] {
  return openOutputs(dataKey, stateVersion.id, block).map((output, place) => {
    const position = block.firstPosition + place
    if (!('lengths' in output)) return { ...output, position }
    const bytes = (text: OutputText) => bytesInTurn(source, stateVersion, position, output, text)
    return { ...output, position, bytes }
  })
}
