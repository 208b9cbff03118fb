import type { AuditEvent } from '../audit/audit-store.ts'
import type { Deps } from '../http/deps.ts'
import { shortName } from './output-names.ts'
import { isWhole, outputsInTurn, type PlacedStoredOutput } from './outputs.ts'
import { decodeString } from './raw-json.ts'
import type { StateVersionRow } from './state-version-store.ts'

/** Outputs that one event names. Only an answer with all outputs of a version reveals more, and then it says how many. */
export const MAX_NAMED_OUTPUTS = 1_000

/** What the audit trail says of sensitive values that an answer reveals; undefined when it reveals none. */
export function revealOf(
  stateVersion: StateVersionRow,
  outputs: readonly PlacedStoredOutput[],
): AuditEvent | undefined {
  return revealOfNames(stateVersion, sensitiveNames(outputs))
}

/** The same for those from position `from` up to, without it, `end`, however many. */
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
      isWhole(output) ? shortName(decodeString(output.name)) : (JSON.parse(output.shortName) as string),
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
