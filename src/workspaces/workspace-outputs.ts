import { isPermitted, type Target } from '../access/decide.ts'
import type { AuditEvent } from '../audit/audit-store.ts'
import type { Viewer } from '../http/route.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import { outputFragment } from '../state-versions/output-document.ts'
import { outputId } from '../state-versions/output-ids.ts'
import { readOutputs, revealOf } from '../state-versions/outputs.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'
import type { WorkspaceRow } from './workspace-store.ts'

/** What `include=outputs` adds to a workspace: the relation and the resources of type workspace-outputs. */
export type WorkspaceOutputs = { identifiers: Identifier[]; included: Fragment[] }

/** A viewer whose answer may reveal sensitive values, since it says so; for others they are null. */
export type RevealingViewer = Viewer & { reveal?: (event: AuditEvent) => void }

/**
 * The current outputs of a workspace, real for who may read them, else with nulls; none while it has no state, and for
 * whoever may not read current outputs at all.
 */
export async function workspaceOutputs(
  { tx, actor, standing, deps, reveal }: RevealingViewer,
  target: Target,
  workspace: WorkspaceRow,
): Promise<WorkspaceOutputs> {
  const isReader = isPermitted('outputs:read-current', actor, standing, target)
  const id = isReader ? workspace.current_state_version_id : null
  const stateVersion = id === null ? undefined : await findStateVersion(tx, id)
  if (stateVersion === undefined) return { identifiers: [], included: [] }
  const outputs = await readOutputs(tx, deps, stateVersion)
  const mayRead = isPermitted('outputs:read', actor, standing, target)
  const isMasked = deps.config.maskListedOutputs || !mayRead || reveal === undefined
  const event = isMasked ? undefined : revealOf(stateVersion, outputs)
  if (event !== undefined) reveal?.(event)
  return {
    identifiers: outputs.map(({ position }) => ({
      id: outputId(stateVersion.output_key, position),
      type: 'workspace-outputs',
    })),
    included: outputs.map((output) =>
      outputFragment(stateVersion.output_key, output, 'workspace-outputs', isMasked),
    ),
  }
}
