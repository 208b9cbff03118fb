import { existing } from '../core/existing.ts'
import { isPermitted, type Target } from '../access/decide.ts'
import type { Call } from '../http/call.ts'
import type { Fragment, Identifier } from '../jsonapi/document.ts'
import { checkIncluded } from '../jsonapi/included.ts'
import { organizationFragment } from '../organizations/organization-document.ts'
import { findSharedOrganization } from '../organization-memberships/membership-store.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { projectFragment } from '../projects/project-document.ts'
import type { ProjectRow } from '../projects/project-store.ts'
import {
  includedOutputs,
  noOutputs,
  type IncludedOutputs,
  type IncludingViewer,
} from '../outputs/included-outputs.ts'
import { stateVersionFragments } from '../state-versions/state-version-document.ts'
import { findStateVersion } from '../state-versions/state-version-store.ts'
import { effectiveTagBindingFragment } from '../tag-bindings/tag-binding-document.ts'
import type { EffectiveTagBinding } from '../tag-bindings/tag-bindings.ts'
import { teamFragments } from '../teams/team-document.ts'
import { wholeTeam } from '../teams/team-fields.ts'
import { findTeam } from '../teams/team-store.ts'
import { userFragment } from '../users/user-document.ts'
import { findUser } from '../users/user-store.ts'
import type { WorkspaceRow } from './workspace-store.ts'
import { includes, type QueryParameter } from '../jsonapi/parameters.ts'

const known = [
  'organization',
  'project',
  'outputs',
  'locked_by',
  'current_state_version',
  'current_state_version.outputs',
  'effective_tag_bindings',
  // These never exist here. Clients ask for them and accept that nothing is included.
  'agent_pool',
  'current_run',
  'current_run.plan',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'readme',
] as const

export type Includes = ReadonlySet<(typeof known)[number]>

/** Each name also works with hyphens, because some clients write them. */
const spellings = includes(
  ...known,
  ...known.filter((name) => name.includes('_')).map((name) => name.replaceAll('_', '-')),
)

const underscored: QueryParameter<Includes> = {
  ...spellings,
  read: (query, name) => {
    const asked = new Set([...spellings.read(query, name)].map((one) => one.replaceAll('-', '_')))
    return new Set(known.filter((one) => asked.has(one)))
  },
}
export const include = { include: underscored }

/** A viewer of workspaces. `call` is needed because a state version's document links to the requested address. */
export type WorkspaceViewer = Omit<IncludingViewer, 'later'> & { readonly call: Call }

/** A workspace and the data for its document and its includes. */
export type ShownWorkspace = {
  workspace: WorkspaceRow
  project: ProjectRow
  target: Target
  tags: readonly string[]
  outputs: IncludedOutputs | undefined
  bindings: readonly EffectiveTagBinding[] | undefined
  lockHolder: Identifier | null
}

/** The resources that `include` adds, each once. It leaves out all that the caller may not read directly. */
export async function includedWith(
  viewer: WorkspaceViewer & IncludingViewer,
  organization: OrganizationRow,
  shown: readonly ShownWorkspace[],
  include: Includes,
): Promise<Fragment[]> {
  const included = new Map<string, Fragment>()
  let count = 0
  const add = (key: string, text: Fragment, resources = 1) => {
    included.set(key, text)
    count += resources
    checkIncluded(shown.length, count)
  }
  if (include.has('organization') && shown.length > 0) {
    add('organization', organizationFragment(organization, viewer, viewer.deps.config))
  }
  for (const one of shown) {
    const { workspace, project, outputs, bindings, lockHolder } = one
    const addOutputs = (name: string, { included: texts, count: all }: IncludedOutputs) => {
      for (const [place, text] of texts.entries())
        add(`${workspace.id} ${name} ${place}`, text, all / texts.length)
    }
    if (outputs !== undefined) addOutputs('outputs', outputs)
    for (const binding of bindings ?? []) add(binding.binding.id, effectiveTagBindingFragment(binding))
    if (include.has('project') && !included.has(project.id)) {
      add(project.id, await projectFragment(viewer, organization, project))
    }
    if (include.has('locked_by') && lockHolder !== null && !included.has(lockHolder.id)) {
      const text = await lockHolderFragment(viewer, organization, lockHolder)
      if (text !== undefined) add(lockHolder.id, text)
    }
    if (include.has('current_state_version') || include.has('current_state_version.outputs')) {
      const state = await currentState(viewer, one, include.has('current_state_version.outputs'))
      if (state !== undefined) add(`${workspace.id} state`, state.text)
      if (state?.outputs !== undefined) addOutputs('state outputs', state.outputs)
    }
  }
  return [...included.values()]
}

/** The user, or the team that the caller sees, that holds the lock. Undefined for a user whom the caller may not read. */
async function lockHolderFragment(
  viewer: WorkspaceViewer & IncludingViewer,
  organization: OrganizationRow,
  { id, type }: Identifier,
): Promise<Fragment | undefined> {
  const { tx, deps, actor, standing } = viewer
  if (type === 'teams') {
    const team = existing(await findTeam(tx, id))
    return (await teamFragments(viewer, [team], wholeTeam, organization))[0]
  }
  const user = await findUser(tx, id)
  const shared = await findSharedOrganization(tx, actor, id, deps.clock.now())
  const target = { userId: id, sharesOrganization: shared !== undefined }
  return user !== undefined && isPermitted('user:read', actor, standing, target)
    ? userFragment(user, viewer)
    : undefined
}

/** The current state version and its outputs, as its own route shows them. Undefined if the caller may not read it. */
async function currentState(
  viewer: WorkspaceViewer & IncludingViewer,
  { workspace, target }: ShownWorkspace,
  withOutputs: boolean,
): Promise<{ text: Fragment; outputs: IncludedOutputs | undefined } | undefined> {
  const { tx, actor, standing } = viewer
  const id = workspace.current_state_version_id
  if (id === null || !isPermitted('state-version:read', actor, standing, target)) return undefined
  const row = await findStateVersion(tx, id)
  if (row === undefined) return undefined
  const outputs = withOutputs ? await includedOutputs(viewer, target, row, 'single') : undefined
  const [text] = await stateVersionFragments(viewer, target, [row], outputs?.identifiers)
  return { text: existing(text), outputs }
}

/**
 * The current outputs of a workspace, as resources of type workspace-outputs. Empty if it has no state, or if the
 * caller may not read current outputs.
 */
export async function workspaceOutputs(
  viewer: IncludingViewer,
  target: Target,
  workspace: WorkspaceRow,
): Promise<IncludedOutputs> {
  const isReader = isPermitted('outputs:read-current', viewer.actor, viewer.standing, target)
  const id = isReader ? workspace.current_state_version_id : null
  const stateVersion = id === null ? undefined : await findStateVersion(viewer.tx, id)
  return stateVersion === undefined
    ? noOutputs
    : includedOutputs(viewer, target, stateVersion, 'workspace-outputs')
}
