import { parseStored } from '../core/stored-json.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import type { Deps } from '../http/deps.ts'
import { shortName } from '../state-file/output-names.ts'
import { isWhole, outputsInTurn, type PlacedStoredOutput } from './outputs.ts'
import { decodeString } from '../state-file/raw-json.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

/** Maximum of names in one event. Only an answer with all outputs can reveal more; its event has their number. */
export const MAX_NAMED_OUTPUTS = 1_000

/** The audit event for sensitive values in an answer; undefined if the answer reveals none. */
export function revealOf(
  stateVersion: StateVersionRow,
  outputs: readonly PlacedStoredOutput[],
): AuditEvent | undefined {
  return revealOfNames(stateVersion, sensitiveNames(outputs))
}

/** As `revealOf`, for outputs `from` to `end` (exclusive), however many there are. */
export async function revealOfMany(
  deps: Pick<Deps, 'database' | 'config'>,
  stateVersion: StateVersionRow,
  from?: number,
  end?: number,
): Promise<AuditEvent | undefined> {
  const names: string[] = []
  let count = 0
  for await (const outputs of outputsInTurn(deps, stateVersion, from, end)) {
    const more = sensitiveNames(outputs)
    count += more.length
    if (names.length < MAX_NAMED_OUTPUTS) names.push(...more)
  }
  return revealOfNames(stateVersion, names, count)
}

function sensitiveNames(outputs: readonly PlacedStoredOutput[]): string[] {
  return outputs
    .filter(({ sensitive }) => sensitive)
    .map((output) =>
      isWhole(output) ? shortName(decodeString(output.name)) : parseStored<string>(output.shortName),
    )
}

function revealOfNames(
  stateVersion: StateVersionRow,
  names: readonly string[],
  count = names.length,
): AuditEvent | undefined {
  if (names.length === 0) return undefined
  return {
    action: 'output.reveal',
    organizationId: stateVersion.organization_id,
    resourceType: 'state-versions',
    resourceId: stateVersion.id,
    details: {
      outputs: names.slice(0, MAX_NAMED_OUTPUTS),
      ...(count > MAX_NAMED_OUTPUTS ? { 'outputs-count': count } : {}),
    },
  }
}
