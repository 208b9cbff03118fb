import { setImmediate } from 'node:timers/promises'
import type { AuditEvent } from '../audit/audit-store.ts'
import type { Transaction } from '../database/database.ts'
import type { Deps } from '../http/deps.ts'
import { findOutputBlocks, type StoredBlock } from './output-block-store.ts'
import { openOutputs } from './output-blocks.ts'
import type { PlacedOutput } from './output-document.ts'
import { decodeString } from './raw-json.ts'
import { unwrapDataKey } from './state-crypto.ts'
import { isContentDeleted, type StateVersionRow } from './state-version-store.ts'

/** Whether its outputs can be read: not before they were processed, and not after its content was deleted. */
export function hasOutputs(stateVersion: StateVersionRow): boolean {
  return stateVersion.resources_processed === 1 && !isContentDeleted(stateVersion)
}

/** The outputs from position `from` up to, without it, `end`, in byte order of their names. */
export async function readOutputs(
  tx: Transaction,
  deps: Deps,
  stateVersion: StateVersionRow,
  from = 0,
  end = stateVersion.outputs_count,
): Promise<PlacedOutput[]> {
  const last = Math.min(end, stateVersion.outputs_count)
  if (!hasOutputs(stateVersion) || from >= last) return []
  const blocks = await findOutputBlocks(tx, stateVersion.id, from, last)
  const dataKey = unwrapDataKey(deps.config.secretKey, stateVersion.id, stateVersion.wrapped_key)
  return blocks
    .flatMap((block) => placedOutputs(dataKey, stateVersion.id, block))
    .filter(({ position }) => position >= from && position < last)
}

/**
 * All outputs, a stored block after the other, each in a turn and a transaction of its own: however many there are, nobody
 * waits for them and only one block is in memory. Throws when some of them are deleted meanwhile.
 */
export async function* outputsInTurn(
  { database, config }: Pick<Deps, 'database' | 'config'>,
  stateVersion: StateVersionRow,
): AsyncGenerator<PlacedOutput[]> {
  const { id, outputs_count: count } = stateVersion
  const dataKey = unwrapDataKey(config.secretKey, id, stateVersion.wrapped_key)
  for (let from = 0; from < count;) {
    const [block] = await database.read((tx) => findOutputBlocks(tx, id, from, from + 1))
    const outputs = block?.firstPosition === from ? placedOutputs(dataKey, id, block) : []
    if (outputs.length === 0) throw new Error(`the output ${from} of ${id} is missing`)
    yield outputs
    from += outputs.length
    await setImmediate()
  }
}

function placedOutputs(dataKey: Uint8Array, stateVersionId: string, block: StoredBlock): PlacedOutput[] {
  return openOutputs(dataKey, stateVersionId, block).map((output, place) => ({
    ...output,
    position: block.firstPosition + place,
  }))
}

/** What the audit trail says of sensitive values that an answer reveals; undefined when it reveals none. */
export function revealOf(
  stateVersion: StateVersionRow,
  outputs: readonly PlacedOutput[],
): AuditEvent | undefined {
  return revealOfNames(stateVersion, sensitiveNames(outputs))
}

/** The same for all outputs, however many. */
export async function revealOfAll(
  deps: Pick<Deps, 'database' | 'config'>,
  stateVersion: StateVersionRow,
): Promise<AuditEvent | undefined> {
  const names: string[] = []
  for await (const outputs of outputsInTurn(deps, stateVersion)) names.push(...sensitiveNames(outputs))
  return revealOfNames(stateVersion, names)
}

function sensitiveNames(outputs: readonly PlacedOutput[]): string[] {
  return outputs.filter(({ sensitive }) => sensitive).map(({ name }) => decodeString(name))
}

function revealOfNames(stateVersion: StateVersionRow, names: readonly string[]): AuditEvent | undefined {
  if (names.length === 0) return undefined
  return {
    action: 'output.reveal',
    organizationId: stateVersion.organization_id,
    resourceType: 'state-versions',
    resourceId: stateVersion.id,
    details: { outputs: names },
  }
}
