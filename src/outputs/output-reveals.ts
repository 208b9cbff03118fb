import type { AuditEvent } from '../audit/audit-store.ts'
import type { Config } from '../config.ts'
import type { ContentSource } from '../state-content/stored-content.ts'
import { outputsInTurn, shownName, type PlacedStoredOutput } from './outputs.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'

/** Maximum of names in one event. Only an answer with all outputs can reveal more; its event has their number. */
export const MAX_NAMED_OUTPUTS = 1_000

/** Whether an answer with several outputs has null for sensitive values. */
export function masksLists({ maskListedOutputs, dialect }: Config): boolean {
  return maskListedOutputs ?? dialect === 'current'
}

/** The audit event for sensitive values in an answer; undefined if the answer reveals none. */
export function revealOf(
  stateVersion: StateVersionRow,
  outputs: readonly PlacedStoredOutput[],
): AuditEvent | undefined {
  return revealOfNames(stateVersion, sensitiveNames(outputs))
}

/** As `revealOf`, for outputs `from` to `end` (exclusive), however many there are. */
export async function revealOfMany(
  source: ContentSource,
  stateVersion: StateVersionRow,
  from?: number,
  end?: number,
): Promise<AuditEvent | undefined> {
  const names: string[] = []
  let count = 0
  for await (const outputs of outputsInTurn(source, stateVersion, from, end)) {
    const more = sensitiveNames(outputs)
    count += more.length
    if (names.length < MAX_NAMED_OUTPUTS) names.push(...more)
  }
  return revealOfNames(stateVersion, names, count)
}

function sensitiveNames(outputs: readonly PlacedStoredOutput[]): string[] {
  return outputs.filter(({ sensitive }) => sensitive).map(shownName)
}

/** The event for an answer that says of sensitive outputs whether their values are those of another version. */
export function revealOfComparison(
  stateVersion: StateVersionRow,
  since: StateVersionRow,
  { names, count }: { readonly names: readonly string[]; readonly count: number },
): AuditEvent | undefined {
  return revealOfNames(stateVersion, names, count, { 'compared-with': since.id })
}

function revealOfNames(
  stateVersion: StateVersionRow,
  names: readonly string[],
  count = names.length,
  more: object = {},
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
      ...more,
    },
  }
}
